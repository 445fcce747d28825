import DOMPurify from 'dompurify';
import { marked } from 'marked';

const allowed = ['a', 'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code', 'em', 'strong', 'del', 'table', 'thead', 'tbody', 'tr', 'th', 'td'];

const purify = DOMPurify();
// A link of an agent leads out of here: into a tab of its own, which knows nothing of this one.
purify.addHook('afterSanitizeAttributes', (node) => {
  // Long lines scroll: the keyboard must get there, too.
  if (node.tagName === 'PRE') node.setAttribute('tabindex', '0');
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
});

/** Markdown of agents and people as HTML that can do nothing: no images (they would ask other servers), no styles, no forms. */
export function markdownHtml(text: string): string {
  const html = marked.parse(text, { async: false, gfm: true, breaks: false });
  return purify.sanitize(html, { ALLOWED_TAGS: allowed, ALLOWED_ATTR: ['href', 'title', 'align', 'start'], ALLOW_DATA_ATTR: false });
}
