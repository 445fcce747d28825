"""Wrapping and slugs."""


def wrap(text, width):
    """Splits `text` into lines of at most `width` characters, at blanks."""
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    lines.append(line)
    return lines


def slugify(title):
    """Lower case, words joined by single dashes: "Hello,  World" becomes "hello-world"."""
    words = "".join(c if c.isalnum() else " " for c in title.lower()).split()
    return "-".join(words)
