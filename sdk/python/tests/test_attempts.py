"""The rules of a life, case by case as in sdk/worker/internal/attempts/attempts_test.go."""

import unittest

from platform_scheduler.attempts import RETURNED, Answer, Attempt, Entry, Life, Stop, Taken, asleep

SECOND = 1_000_000_000


def life():
    return Life(Entry(epoch=4, lease=20 * SECOND, slots=(1, 1)), 100 * SECOND)


def run(name):
    return Taken(Attempt(name, 1))


class Rules(unittest.TestCase):
    def test_runs_come_from_the_answer_to_the_newest_poll_once(self):
        a = life()
        a.poll(100 * SECOND)
        a.poll(101 * SECOND)
        self.assertEqual([], a.answer(Answer(1, runs=[run("a")]), 101 * SECOND).begin)
        answer = Answer(2, runs=[run("a"), run("b")])
        self.assertEqual([run("a")], a.answer(answer, 101 * SECOND).begin)
        self.assertEqual([], a.answer(answer, 101 * SECOND).begin)
        self.assertEqual([(Attempt("b", 1), RETURNED)], a.ends(), "no slot is free")
        p = a.poll(102 * SECOND)
        self.assertEqual((0, 1), p.free)
        self.assertEqual([Attempt("a", 1), Attempt("b", 1)], p.running)
        self.assertEqual(2, p.ack)

    def test_an_end_is_held_until_its_receipt_and_remembered_for_two_leases(self):
        a = life()
        a.poll(100 * SECOND)
        a.answer(Answer(1, runs=[run("a")]), 100 * SECOND)
        self.assertFalse(a.receipt(Attempt("a", 1), "ACCEPTED", 100 * SECOND), "it still runs")
        a.end(Attempt("a", 1), "SUCCESS")
        self.assertFalse(a.receipt(Attempt("a", 1), "RETRY", 101 * SECOND))
        self.assertEqual(1, len(a.ends()))
        self.assertEqual(0, a.poll(101 * SECOND).free[0])
        self.assertTrue(a.receipt(Attempt("a", 1), "STALE", 101 * SECOND))
        self.assertEqual([], a.ends())
        for at, begins in ((110 * SECOND, 0), (125 * SECOND, 0), (141 * SECOND - 1, 0), (141 * SECOND, 1)):
            seq = a.poll(at).seq
            work = a.answer(Answer(seq, lease_seq=seq, lease=20 * SECOND, runs=[run("a")]), at)
            self.assertEqual(begins, len(work.begin), at)

    def test_the_lease_counts_from_the_stored_call(self):
        a = life()
        self.assertEqual(120 * SECOND, a.until)
        a.poll(105 * SECOND)
        a.poll(110 * SECOND)
        a.answer(Answer(1, lease_seq=1, lease=20 * SECOND), 119 * SECOND)
        self.assertEqual(125 * SECOND, a.until, "an older answer renews, too")
        a.answer(Answer(2, lease_seq=0), 119 * SECOND)
        self.assertEqual(125 * SECOND, a.until, "a gateway without memory renews nothing")
        a.poll(120 * SECOND)
        a.answer(Answer(3, hold=True), 121 * SECOND)
        self.assertEqual(140 * SECOND, a.until)
        self.assertFalse(a.over(140 * SECOND - 1))
        self.assertTrue(a.over(140 * SECOND))
        self.assertTrue(a.over(0), "it stays over")
        self.assertEqual([], a.ends(), "nothing of it is sent any more")

    def test_sleep_counts(self):
        self.assertEqual(0, asleep(12 * SECOND, 10 * SECOND))
        gap = asleep(14 * SECOND, 10 * SECOND)
        self.assertEqual(4 * SECOND, gap)
        a = life()
        a.poll(101 * SECOND)
        a.slept(gap)
        self.assertEqual(116 * SECOND, a.until)
        work = a.answer(Answer(1, lease_seq=1, lease=20 * SECOND, runs=[run("a")]), 102 * SECOND)
        self.assertEqual([], work.begin)
        self.assertEqual(117 * SECOND, a.until)
        self.assertEqual(1, len(a.ends()), "it goes back")

    def test_a_worker_that_drains_gives_back_and_leaves(self):
        a = life()
        a.poll(100 * SECOND)
        self.assertIsNone(a.leave(), "it does not drain")
        a.stop()
        self.assertEqual(4, a.leave())
        self.assertTrue(a.over(100 * SECOND))
        a = life()
        a.stop()
        p = a.poll(100 * SECOND)
        self.assertTrue(p.stopping)
        self.assertEqual((0, 0), p.free)
        self.assertEqual([], a.answer(Answer(1, runs=[run("a")]), 100 * SECOND).begin)
        self.assertIsNone(a.leave())
        self.assertTrue(a.receipt(Attempt("a", 1), "ACCEPTED", 100 * SECOND))
        self.assertEqual(4, a.leave())

    def test_only_attempts_that_are_held_are_stopped(self):
        a = life()
        a.poll(100 * SECOND)
        mine, foreign = Stop(Attempt("a", 1), "cancel"), Stop(Attempt("a", 2), "cancel")
        work = a.answer(Answer(1, runs=[run("a")], cancel=[mine, foreign]), 100 * SECOND)
        self.assertEqual([mine], work.stop)
        self.assertEqual([Attempt("a", 1)], a.working())


if __name__ == "__main__":
    unittest.main()
