// Prints the schemas of the server's openapi.json as TypeScript: src/api/types.ts.
//   node scripts/api-types.mjs           writes the file
//   node scripts/api-types.mjs --check   fails when the file is not what would be written
import { readFileSync, writeFileSync } from 'node:fs';

const source = new URL('../../orchestrator/http/openapi.json', import.meta.url);
const target = new URL('../src/api/types.ts', import.meta.url);

const comment = (schema, indent) => (schema.description ? `${indent}/** ${schema.description} */\n` : '');

function typeOf(schema, indent) {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  const bare = bareType(schema, indent);
  return schema.nullable ? `${bare} | null` : bare;
}

function bareType(schema, indent) {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.allOf) return schema.allOf.map((part) => typeOf(part, indent)).join(' & ');
  if (schema.oneOf) return schema.oneOf.map((part) => typeOf(part, indent)).join(' | ');
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array': {
      const item = typeOf(schema.items, indent);
      return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, indent);
    default:
      throw new Error(`openapi.json holds a schema that this program does not know: ${JSON.stringify(schema)}`);
  }
}

function objectType(schema, indent) {
  if (!schema.properties) return 'Record<string, unknown>';
  const deeper = `${indent}  `;
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties).map(
    ([name, property]) => `${comment(property, deeper)}${deeper}${name}${required.has(name) ? '' : '?'}: ${typeOf(property, deeper)};\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

const { schemas } = JSON.parse(readFileSync(source, 'utf8')).components;
const text = [
  '// Made from orchestrator/http/openapi.json by `npm run types`; not edited by hand.\n',
  ...Object.entries(schemas).map(([name, schema]) => `\n${comment(schema, '')}export type ${name} = ${typeOf(schema, '')};\n`),
].join('');

if (!process.argv.includes('--check')) {
  writeFileSync(target, text);
} else if (readFileSync(target, 'utf8') !== text) {
  console.error('web/src/api/types.ts is not what openapi.json says: run `npm run types` in web/');
  process.exit(1);
}
