package platformscheduler.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import org.junit.jupiter.api.Test;

/** The rules of a life, case by case as in sdk/worker/internal/attempts/attempts_test.go. */
class LifeTest {
    private static final long SECOND = 1_000_000_000L;

    private static Life life() {
        return new Life(4, 20 * SECOND, new int[] {1, 1}, 100 * SECOND);
    }

    private static Attempt attempt(String name) {
        return new Attempt(name, 1);
    }

    private static Life.Answer answer(long seq, long leaseSeq, String... runs) {
        Life.Answer a = new Life.Answer();
        a.seq = seq;
        a.leaseSeq = leaseSeq;
        a.lease = leaseSeq > 0 ? 20 * SECOND : 0;
        for (String run : runs) {
            a.runs.add(new Life.Run(attempt(run), Life.GENERAL));
        }
        return a;
    }

    @Test
    void runsComeFromTheAnswerToTheNewestPollOnce() {
        Life l = life();
        l.poll(100 * SECOND);
        l.poll(101 * SECOND);
        assertTrue(l.answer(answer(1, 0, "a"), 101 * SECOND).begin.isEmpty());
        Life.Work work = l.answer(answer(2, 0, "a", "b"), 101 * SECOND);
        assertEquals(1, work.begin.size());
        assertEquals(attempt("a"), work.begin.get(0).attempt);
        assertTrue(l.answer(answer(2, 0, "a", "b"), 101 * SECOND).begin.isEmpty());
        assertEquals(Collections.singletonMap(attempt("b"), Life.RETURNED), l.ends(), "no slot is free");
        Life.Poll p = l.poll(102 * SECOND);
        assertEquals("[0, 1]", Arrays.toString(p.free));
        assertEquals(Arrays.asList(attempt("a"), attempt("b")), p.running);
        assertEquals(2, p.ack);
    }

    @Test
    void anEndIsHeldUntilItsReceiptAndRememberedForTwoLeases() {
        Life l = life();
        l.poll(100 * SECOND);
        l.answer(answer(1, 0, "a"), 100 * SECOND);
        assertFalse(l.receipt(attempt("a"), "ACCEPTED", 100 * SECOND), "it still runs");
        l.end(attempt("a"), "SUCCESS");
        assertFalse(l.receipt(attempt("a"), "RETRY", 101 * SECOND));
        assertEquals(1, l.ends().size());
        assertEquals(0, l.poll(101 * SECOND).free[Life.GENERAL]);
        assertTrue(l.receipt(attempt("a"), "STALE", 101 * SECOND));
        assertTrue(l.ends().isEmpty());
        long[] moments = {110 * SECOND, 125 * SECOND, 141 * SECOND - 1, 141 * SECOND};
        for (long at : moments) {
            long seq = l.poll(at).seq;
            assertEquals(at == 141 * SECOND ? 1 : 0, l.answer(answer(seq, seq, "a"), at).begin.size());
        }
    }

    @Test
    void theLeaseCountsFromTheStoredCall() {
        Life l = life();
        assertEquals(120 * SECOND, l.until());
        l.poll(105 * SECOND);
        l.poll(110 * SECOND);
        l.answer(answer(1, 1), 119 * SECOND);
        assertEquals(125 * SECOND, l.until(), "an older answer renews, too");
        l.answer(answer(2, 0), 119 * SECOND);
        assertEquals(125 * SECOND, l.until(), "a gateway without memory renews nothing");
        l.poll(120 * SECOND);
        Life.Answer hold = answer(3, 0);
        hold.hold = true;
        l.answer(hold, 121 * SECOND);
        assertEquals(140 * SECOND, l.until());
        assertFalse(l.over(140 * SECOND - 1));
        assertTrue(l.over(140 * SECOND));
        assertTrue(l.over(0), "it stays over");
        assertTrue(l.ends().isEmpty(), "nothing of it is sent any more");
    }

    @Test
    void sleepCounts() {
        assertEquals(0, Life.asleep(12 * SECOND, 10 * SECOND));
        long gap = Life.asleep(14 * SECOND, 10 * SECOND);
        assertEquals(4 * SECOND, gap);
        Life l = life();
        l.poll(101 * SECOND);
        l.slept(gap);
        assertEquals(116 * SECOND, l.until());
        assertTrue(l.answer(answer(1, 1, "a"), 102 * SECOND).begin.isEmpty());
        assertEquals(117 * SECOND, l.until());
        assertEquals(1, l.ends().size(), "it goes back");
    }

    @Test
    void aWorkerThatDrainsGivesBackAndLeaves() {
        Life l = life();
        l.poll(100 * SECOND);
        assertFalse(l.leave(), "it does not drain");
        l.stop();
        assertTrue(l.leave());
        assertTrue(l.over(100 * SECOND));
        l = life();
        l.stop();
        Life.Poll p = l.poll(100 * SECOND);
        assertTrue(p.stopping);
        assertEquals("[0, 0]", Arrays.toString(p.free));
        assertTrue(l.answer(answer(1, 0, "a"), 100 * SECOND).begin.isEmpty());
        assertFalse(l.leave());
        assertTrue(l.receipt(attempt("a"), "ACCEPTED", 100 * SECOND));
        assertTrue(l.leave());
        assertEquals(4, l.epoch());
    }
}
