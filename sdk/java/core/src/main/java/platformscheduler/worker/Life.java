package platformscheduler.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a worker holds under one epoch: which runs of an answer begin, what a poll lists, until when the worker may work,
 * and what becomes of ends. When it is over, the worker stops its handlers, draws a new boot id and registers anew. The
 * new life sends nothing that the old one held, not even its ends.
 *
 * <p>It reads no clock and makes no call: the moments are handed in, in nanoseconds of the monotonic clock. It is the
 * same code as {@code sdk/worker/internal/attempts}, which a model drives through every order of messages
 * ({@code docs/workers/delivery.md}). It is not safe for concurrent use.
 */
final class Life {
    /** For how many leases an ended attempt is remembered, so that it is not begun again. */
    private static final int MEMORY = 2;
    /** Bounds the remembered calls. The moment of a forgotten one renews nothing. */
    private static final int MAX_CALLS = 1024;
    /** The largest difference between wall clock and monotonic clock that is no sleep. */
    private static final long MAX_GAP = 2_000_000_000L;

    static final int GENERAL = 0;
    static final int COMMAND = 1;
    /** The status of an attempt that did not begin: it uses no attempt of the run. */
    static final String RETURNED = "RETURNED";
    /** The receipt of an end that is to be sent again. After any other one the worker drops it. */
    static final String RETRY = "RETRY";

    /** An attempt and the kind of slot that it takes. */
    static final class Run {
        final Attempt attempt;
        final int kind;

        Run(Attempt attempt, int kind) {
            this.attempt = attempt;
            this.kind = kind;
        }
    }

    /** Asks for the end of an attempt. */
    static final class Stop {
        final Attempt attempt;
        final String reason;

        Stop(Attempt attempt, String reason) {
            this.attempt = attempt;
            this.reason = reason;
        }
    }

    /** The worker's call for work. It lists all that the worker holds at the moment of the call. */
    static final class Poll {
        long seq;
        long ack;
        int[] free = {0, 0};
        final List<Attempt> running = new ArrayList<>();
        boolean stopping;
    }

    /**
     * What a poll got. The field leaseSeq names the newest poll whose beat is stored, and lease what was stored with it.
     * With hold the store is away for all, and the lease counts from this very poll.
     */
    static final class Answer {
        long seq;
        long leaseSeq;
        long lease;
        boolean hold;
        final List<Run> runs = new ArrayList<>();
        final List<Stop> cancel = new ArrayList<>();
    }

    /** What the worker does after an answer. */
    static final class Work {
        final List<Run> begin = new ArrayList<>();
        final List<Stop> stop = new ArrayList<>();
    }

    private static final class Call {
        final long seq;
        long at;

        Call(long seq, long at) {
            this.seq = seq;
            this.at = at;
        }
    }

    /** An attempt that takes a slot, until its end has a receipt. The status is empty while the handler runs. */
    private static final class Hold {
        final Run run;
        String status = "";

        Hold(Run run) {
            this.run = run;
        }
    }

    final long epoch;
    private final int[] slots;
    private long seq;
    private long ack;
    /** The polls whose beat may still be stored, oldest first. */
    private final Deque<Call> calls = new ArrayDeque<>();
    private long until;
    /** The longest lease that the worker was told of; the store keeps at least that. */
    private long lease;
    private boolean over;
    /** The newest poll that was sent before the machine slept; its answer begins nothing. */
    private long asleep;
    private boolean stopping;
    private final Map<Attempt, Hold> holds = new LinkedHashMap<>();
    /** The attempts whose ends have a receipt, and until when they are remembered. */
    private final Map<Attempt, Long> ended = new HashMap<>();

    /** Makes a life of the answer to a registration that was sent at that moment. */
    Life(long epoch, long lease, int[] slots, long sent) {
        this.epoch = epoch;
        this.lease = lease;
        this.slots = slots.clone();
        calls.add(new Call(0, sent));
        until = sent + lease;
    }

    /** Makes the next poll, which is sent now. Answers to former ones deliver nothing from here on. */
    Poll poll(long now) {
        seq++;
        calls.addLast(new Call(seq, now));
        if (calls.size() > MAX_CALLS) {
            calls.removeFirst();
        }
        Poll p = new Poll();
        p.seq = seq;
        p.ack = ack;
        p.stopping = stopping;
        if (!stopping) {
            p.free = free();
        }
        p.running.addAll(holds.keySet());
        return p;
    }

    int[] free() {
        int[] free = slots.clone();
        for (Hold h : holds.values()) {
            free[h.run.kind]--;
        }
        for (int k = 0; k < free.length; k++) {
            free[k] = Math.max(free[k], 0);
        }
        return free;
    }

    /**
     * Takes an answer that came now. Each one may renew the lease. Runs and stops count only from the answer to the
     * newest poll, once, and while the lease holds. A run that it cannot begin is returned: no slot is free, the worker
     * stops, or the machine slept since the poll.
     */
    Work answer(Answer a, long now) {
        Work work = new Work();
        if (over) {
            return work;
        }
        renew(a);
        if (over(now) || a.seq != seq || a.seq <= ack) {
            return work;
        }
        ack = a.seq;
        ended.values().removeIf(end -> end - now <= 0);
        for (Run run : a.runs) {
            if (holds.containsKey(run.attempt) || ended.containsKey(run.attempt)) {
                continue;
            }
            Hold hold = new Hold(run);
            if (stopping || free()[run.kind] == 0 || a.seq <= asleep) {
                hold.status = RETURNED;
            } else {
                work.begin.add(run);
            }
            holds.put(run.attempt, hold);
        }
        for (Stop stop : a.cancel) {
            if (holds.containsKey(stop.attempt)) {
                work.stop.add(stop);
            }
        }
        return work;
    }

    /**
     * Moves the end of the lease to the moment at which the stored call was <em>sent</em>, plus the lease. The store
     * counts from a later moment, so the worker stops first. No answer brings the end forward: the store keeps the
     * latest end, too.
     */
    private void renew(Answer a) {
        lease = Math.max(lease, a.lease);
        long stored = a.hold ? a.seq : a.leaseSeq;
        for (Call c : calls) {
            if (c.seq != stored) {
                continue;
            }
            long end = c.at + (a.hold ? lease : a.lease);
            if (end - until > 0) {
                until = end;
            }
            if (!a.hold) {
                while (calls.peekFirst() != c) {
                    calls.removeFirst();
                }
            }
            return;
        }
    }

    /**
     * Reports whether the lease is over; it stays so. The worker then tells all handlers that they are lost, sends
     * nothing more of this life and registers anew.
     */
    boolean over(long now) {
        over = over || now - until >= 0;
        return over;
    }

    /** When the lease ends. The worker wakes up then and asks over. */
    long until() {
        return until;
    }

    /** Ends the life, for a gateway that answers that the epoch is not the worker's any more. */
    void lost() {
        over = true;
    }

    /** For how long the machine slept between two readings of both clocks. Small differences are none. */
    static long asleep(long wall, long monotonic) {
        long gap = wall - monotonic;
        return gap > MAX_GAP ? gap : 0;
    }

    /**
     * Tells the life that the machine slept for so long without its clock. The lease went on, so its end comes nearer by
     * as much. The worker calls at once, and begins nothing before the answer to that call.
     */
    void slept(long gap) {
        for (Call c : calls) {
            c.at -= gap;
        }
        until -= gap;
        asleep = seq;
    }

    /** Notes that the handler of an attempt has ended. The slot stays taken until the receipt. */
    void end(Attempt a, String status) {
        Hold h = holds.get(a);
        if (h != null && h.status.isEmpty()) {
            h.status = status;
        }
    }

    /** The attempts with an end that has no receipt, oldest first. A life that is over has none. */
    Map<Attempt, String> ends() {
        Map<Attempt, String> out = new LinkedHashMap<>();
        if (!over) {
            for (Hold h : holds.values()) {
                if (!h.status.isEmpty()) {
                    out.put(h.run.attempt, h.status);
                }
            }
        }
        return out;
    }

    /**
     * Takes the receipt of an end; true when the end is done with. Each but RETRY frees the slot, and the attempt is
     * remembered for two leases: an answer that still delivers it was late.
     */
    boolean receipt(Attempt a, String kind, long now) {
        Hold h = holds.get(a);
        if (h == null || kind.equals(RETRY) || h.status.isEmpty()) {
            return false;
        }
        holds.remove(a);
        ended.put(a, now + MEMORY * lease);
        return true;
    }

    /** Makes the worker drain: it begins nothing more, and its polls say so. */
    void stop() {
        stopping = true;
    }

    boolean stopping() {
        return stopping;
    }

    /** Ends the life of a worker that drains and holds nothing, so that it may say so; false before. */
    boolean leave() {
        if (over || !stopping || !holds.isEmpty()) {
            return false;
        }
        over = true;
        return true;
    }

    /** What each message of this life names. */
    long epoch() {
        return epoch;
    }

    /** The newest poll. */
    long seq() {
        return seq;
    }
}
