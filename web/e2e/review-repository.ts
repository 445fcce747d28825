// A repository whose change has everything a review meets: several hunks in a file, a new, a deleted and a renamed file, a lock file and a picture.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const cart = `"""Prices and sums of a cart. All money is in whole cents."""

from dataclasses import dataclass, field


@dataclass
class Line:
    name: str
    cents: int
    count: int = 1


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)
    country: str = "DE"

    def add(self, name, cents, count=1):
        self.lines.append(Line(name, cents, count))

    def remove(self, name):
        self.lines = [line for line in self.lines if line.name != name]

    def total(self):
        sum = 0
        for line in self.lines:
            sum = sum + line.cents * line.count
        return sum


# What a country takes, in parts of a hundred.
TAXES = {
    "AT": 20,
    "BE": 21,
    "DE": 19,
    "DK": 25,
    "ES": 21,
    "FI": 24,
    "FR": 20,
    "IE": 23,
    "IT": 22,
    "NL": 21,
    "PL": 23,
    "PT": 23,
    "SE": 25,
}


def tax(cart):
    return cart.total() * TAXES[cart.country] // 100


def shipping(cart):
    if cart.total() > 5000:
        return 0
    if cart.country == "DE":
        return 490
    return 990


def invoice(cart):
    out = ""
    for line in cart.lines:
        out = out + line.name + " " + str(line.cents) + "\\n"
    out = out + "total " + str(cart.total()) + "\\n"
    return out
`;

const lock = (version: string) =>
  `${JSON.stringify({ name: 'shop', lockfileVersion: 3, packages: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`node_modules/part-${i}`, { version, integrity: `sha512-${'a'.repeat(20)}${i}` }])) }, null, 2)}\n`;

const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAABgAAAAYCAIAAABvFaqvAAAARklEQVR42mP4TyXAMHQM2uLIhwuRYBAeU3CZxUCqEbiMo41BJJmCZhYDJaYgmzVq0KhB1DWIail7UGZaapZHVC4hB7LwBwAzlF6jA99ZWwAAAABJRU5ErkJggg==', 'base64');

const text = `"""Words of the shop."""


def plural(count, word):
    return word if count == 1 else word + "s"


def title(text):
    return text[:1].upper() + text[1:]


def shortened(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"
`;

const files: Record<string, string | Buffer> = {
  'README.md': '# Shop\n\nCarts, prices and invoices of a small shop.\n\n## Use\n\n    python3 -m shop\n',
  'shop/cart.py': cart,
  'shop/text.py': text,
  'shop/__main__.py': 'from shop.cart import Cart, invoice\n\ncart = Cart()\ncart.add("tea", 499, 2)\nprint(invoice(cart))\n',
  'docs/history.md': '# History\n\nFirst there was a list of prices.\n',
  'assets/logo.png': picture,
  'package-lock.json': lock('1.0.0'),
};

export function makeShop(folder: string): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const git = (...words: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-c', 'commit.gpgsign=false', ...words], { stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  git('config', 'receive.denyCurrentBranch', 'ignore');
  git('add', '-A');
  git('commit', '-q', '-m', 'A small shop');
}
