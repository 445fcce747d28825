import unittest

from textkit import slugify, wrap


class Wrap(unittest.TestCase):
    def test_lines_are_never_longer_than_the_width(self):
        for line in wrap("one two three four five six", 7):
            self.assertLessEqual(len(line), 7)

    def test_words_are_kept_in_order(self):
        self.assertEqual(" ".join(wrap("a bb ccc dddd", 5)), "a bb ccc dddd")

    def test_an_empty_text_has_no_lines(self):
        self.assertEqual(wrap("", 10), [])


class Slugify(unittest.TestCase):
    def test_words_are_joined_by_dashes(self):
        self.assertEqual(slugify("Hello,  World"), "hello-world")


if __name__ == "__main__":
    unittest.main()
