"""What is kept of a run until the server has it."""

import unittest

from platform_scheduler.attempts import Attempt
from platform_scheduler.journal import BATCH, KEPT, Journal
from platform_scheduler.texts import LINE, RESULT, clean, cut, lines

LIMIT = 1_000_000


class Keeping(unittest.TestCase):
    def setUp(self):
        self.woken = []
        self.journal = Journal(Attempt("e1", 7), 2, self.woken.append)

    def test_lines_are_kept_until_the_server_has_them(self):
        self.journal.log("a\nb\r\nc")
        item, sent, _ = self.journal.item(0, LIMIT)
        self.assertEqual((1, ["a", "b", "c"], 2), (item["lineFrom"], item["lines"], item["attempt"]))
        self.journal.log("d")
        self.journal.taken(sent, 2)
        item, sent, _ = self.journal.item(0, LIMIT)
        self.assertEqual((3, ["c", "d"]), (item["lineFrom"], item["lines"]))
        self.journal.taken(sent, 9)
        self.assertIsNone(self.journal.item(0, LIMIT))
        self.assertIsNone(self.journal.due)

    def test_the_oldest_lines_go_with_a_mark(self):
        line = "x" * 1023
        for _ in range(KEPT // 1024 + 5):
            self.journal.log(line)
        item, sent, _ = self.journal.item(0, LIMIT)
        self.assertEqual(5, item["lineFrom"], "the mark takes the number of the newest missing line")
        self.assertIn("5 lines are missing", item["lines"][0])
        self.assertEqual(BATCH // 1024, len(item["lines"]) - 1)
        self.assertEqual(True, self.woken[-1], "there is much to send")
        self.journal.taken(sent, sent.line)
        item, _, _ = self.journal.item(0, LIMIT)
        self.assertEqual((sent.line + 1, line), (item["lineFrom"], item["lines"][0]))

    def test_the_end_goes_with_the_last_lines_and_the_last_checkpoint(self):
        self.journal.set_checkpoint("c1")
        self.journal.set_progress(5)
        item, sent, _ = self.journal.item(0, LIMIT)
        self.assertEqual(("c1", 5), (item["checkpoint"], item["progress"]))
        self.journal.taken(sent, None)
        self.assertIsNone(self.journal.item(0, LIMIT), "it is said once")
        self.journal.again()
        self.assertEqual("c1", self.journal.item(0, LIMIT)[0]["checkpoint"], "another server does not know of it")
        for _ in range(100):
            self.journal.log("x" * 1023)
        self.journal.close({"status": "SUCCESS"}, 1_000_000)
        self.journal.log("late")
        item, sent, _ = self.journal.item(0, LIMIT)
        self.assertNotIn("end", item)
        self.journal.taken(sent, sent.line)
        item, sent, _ = self.journal.item(4_000_000, LIMIT)
        self.assertEqual((3, "c1", "SUCCESS"), (item["end"]["agoMs"], item["checkpoint"], item["end"]["status"]))
        self.assertNotIn("late", item["lines"])

    def test_lines_go_alone_where_all_together_is_too_large(self):
        self.journal.log("x" * 100)
        self.journal.set_checkpoint("\x01" * 500)
        self.journal.close({"status": "SUCCESS"}, 0)
        item, sent, size = self.journal.item(0, 1000)
        self.assertEqual((False, ["x" * 100]), (sent.end, item["lines"]))
        self.assertNotIn("checkpoint", item)
        self.assertLess(size, 1000)
        self.journal.taken(sent, sent.line)
        item, sent, _ = self.journal.item(0, 1000)
        self.assertTrue(sent.end and item["checkpoint"])

    def test_lines_end_at_each_kind_of_end(self):
        for text, want in (
            ("a\rb\r\nc\r\r\nd\n", ["a\r", "b", "c", "d"]),
            ("10%\r20%\r100%\n", ["10%\r", "20%\r", "100%"]),
            ("10%\r", ["10%\r"]),
            ("a\n\nb", ["a", "", "b"]),
            ("", [""]),
        ):
            self.assertEqual(want, list(lines(text)), text)
        (long,) = lines("ä" * 5000 + "\r")
        self.assertEqual((LINE, "…\r"), (len(long.encode()), long[-2:]), "the end of the line counts")

    def test_texts_are_cut_between_characters(self):
        self.assertEqual(RESULT, len(cut("ä" * 40000, RESULT).encode()) + 1)
        self.assertEqual("😀…", cut("😀😀", 7))
        self.assertEqual("x\ufffdy", clean("x\ud800y"))


if __name__ == "__main__":
    unittest.main()
