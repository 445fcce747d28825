"""Small helpers for text."""

from .wrap import slugify, wrap

__all__ = ["slugify", "wrap"]
