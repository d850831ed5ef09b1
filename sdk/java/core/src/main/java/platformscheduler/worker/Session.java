package platformscheduler.worker;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * One life of a worker, from its registration to the end of its lease or its leave: the watch over lease, time-outs and
 * drain. Its monitor guards what it, its polls and its reports hold.
 */
final class Session {
    static final Logger LOG = Logger.getLogger("platformscheduler.worker");
    static final long MS = 1_000_000L;
    static final long SECOND = 1_000 * MS;
    /** A server that is gone is noticed so long after the wait of a poll. */
    static final long SLACK_MS = 5_000;
    /** How long handlers that ignore the stop of a shutdown are waited for. */
    private static final long DEAF = 10 * SECOND;

    /** An attempt that this life holds. The run is null once its handler has ended. */
    static final class Active {
        final Journal journal;
        final long began;
        JobRun run;
        /** When its time is over; 0 is never. */
        long timeoutMs;

        Active(JobRun run, Journal journal, long began, long timeoutMs) {
            this.run = run;
            this.journal = journal;
            this.began = began;
            this.timeoutMs = timeoutMs;
        }

        long left(long now) {
            return began + timeoutMs * MS - now;
        }
    }

    final Worker worker;
    final String path;
    final Life life;
    final int maxItems;
    final Map<Attempt, Active> actives = new LinkedHashMap<>();
    final Polls polls;
    final Reports reports;
    boolean closed;
    boolean left;
    /** Why the servers refuse this worker; empty while they do not. */
    String failure = "";

    Session(Worker worker, Map<String, Object> entry, long sent) {
        this.worker = worker;
        path = Worker.PATH + "/" + Json.text(entry, "workerId");
        life = new Life(Json.number(entry, "epoch", 0), Json.number(entry, "leaseMs", 0) * MS,
                new int[] {worker.settings.slots, 0}, sent);
        maxItems = (int) Math.max(Json.number(entry, "maxItems", 500), 1);
        polls = new Polls(this, entry);
        reports = new Reports(this);
    }

    /** Works until the life is over, or the worker has left. */
    void serve() throws InterruptedException {
        polls.start();
        thread("report", reports::serve);
        try {
            synchronized (this) {
                while (!watch()) {
                    pause(waitNanos());
                }
            }
        } finally {
            close();
        }
    }

    /** Waits for a change, at most so long; the caller holds the monitor. */
    void pause(long nanos) throws InterruptedException {
        wait(Math.max(nanos / MS, 1));
    }

    /** Looks at the clock; true when this life ends here. */
    private boolean watch() {
        long now = now();
        if (life.over(now)) {
            return true;
        }
        for (Active a : actives.values()) {
            if (a.run != null && a.timeoutMs > 0 && a.left(now) <= 0) {
                a.timeoutMs = 0;
                a.run.stop(StopReason.TIMEOUT);
            }
        }
        polls.watch(now);
        return worker.stopping() && drain(now);
    }

    private boolean drain(long now) {
        if (!life.stopping()) {
            life.stop();
            polls.soon(now);
        }
        long late = now - worker.graceUntil();
        if (late >= 0) {
            for (Active a : actives.values()) {
                if (a.run != null) {
                    a.run.stop(StopReason.SHUTDOWN);
                }
            }
        }
        boolean deaf = late >= DEAF;
        // A poll that is under way must not reach a server after the leave. One that hangs is waited for until then.
        if (deaf || polls.underWay() == 0 && (polls.stopAnswered || late >= 0)) {
            left = life.leave();
        }
        return deaf || left;
    }

    /** How long the watch may sleep. */
    private long waitNanos() {
        long now = System.nanoTime();
        long wait = Math.min(Math.min(life.until() - now, polls.overdue(now)), SECOND);
        for (Active a : actives.values()) {
            if (a.run != null && a.timeoutMs > 0) {
                wait = Math.min(wait, a.left(now));
            }
        }
        if (worker.stopping()) {
            long grace = worker.graceUntil() - now;
            wait = Math.min(wait, grace > 0 ? grace : grace + DEAF);
        }
        return wait;
    }

    /** The moment; a sleep of the machine is told to the life first. */
    long now() {
        long gap = worker.sleep.slept();
        if (gap > 0) {
            LOG.log(Level.WARNING, "the machine slept for {0} ms", gap / MS);
            life.slept(gap);
            polls.soon(System.nanoTime());
        }
        return System.nanoTime();
    }

    private void close() {
        synchronized (this) {
            closed = true;
            life.lost();
            for (Active a : actives.values()) {
                if (a.run != null) {
                    worker.leftover(a, true);
                    a.run.stop(StopReason.LOST);
                }
            }
            notifyAll();
        }
        if (left) {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("epoch", life.epoch());
            try {
                worker.client.call(worker.servers.now(), path + "/leave", body, SLACK_MS);
            } catch (IOException | Client.Refused e) {
                LOG.log(Level.WARNING, "leave: {0}", e.getMessage());
            }
        }
    }

    /** What a thread of this life does. */
    interface Work {
        void run() throws InterruptedException;
    }

    /** Starts a thread of this life. A worker without one of them would be deaf: its life ends with it. */
    void thread(String name, Work work) {
        Thread t = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException | RuntimeException | Error e) {
                LOG.log(Level.SEVERE, "a thread of the worker has ended", e);
                synchronized (this) {
                    failure = "a fault of the worker: " + e;
                    life.lost();
                    notifyAll();
                }
            }
        }, "platform-scheduler-" + name);
        t.setDaemon(true);
        t.start();
    }

    synchronized void wake() {
        notifyAll();
    }

    /** Does what an answer asks for; the caller holds the monitor. It returns whether anything is new. */
    boolean take(Life.Work work, Map<Attempt, Map<String, Object>> deliveries, long now) {
        boolean any = !work.begin.isEmpty();
        for (Life.Run run : work.begin) {
            begin(run, deliveries.get(run.attempt), now);
        }
        life.ends().forEach((attempt, status) -> {
            if (status.equals(Life.RETURNED) && !actives.containsKey(attempt)) {
                giveBack(attempt, deliveries.get(attempt), "the worker cannot begin it now", now);
            }
        });
        for (Life.Stop stop : work.stop) {
            Active a = actives.get(stop.attempt);
            any |= a != null && a.run != null && a.run.stop(StopReason.of(stop.reason));
        }
        return any;
    }

    private void begin(Life.Run run, Map<String, Object> delivery, long now) {
        String name = Json.text(delivery, "handler");
        JobHandler handler = run.kind == Life.GENERAL ? worker.handlers.get(name) : null;
        if (handler == null) {
            life.end(run.attempt, Life.RETURNED);
            giveBack(run.attempt, delivery, "this worker has no handler \"" + Texts.cut(name, 64) + "\"", now);
            return;
        }
        Journal journal = journal(run.attempt, delivery);
        Active a = new Active(new JobRun(delivery, journal), journal, now, Json.number(delivery, "timeoutMs", 0));
        actives.put(run.attempt, a);
        JobRun job = a.run;
        try {
            worker.pool.execute(() -> ended(a, job, Ends.of(handler, job)));
        } catch (RuntimeException | OutOfMemoryError e) { // the machine gives no more threads
            LOG.log(Level.SEVERE, "a run cannot begin", e);
            ended(a, job, Ends.end(Life.RETURNED, "the worker has no thread for it"));
        }
    }

    private Journal journal(Attempt attempt, Map<String, Object> delivery) {
        int number = delivery == null ? 1 : (int) Json.number(delivery, "attempt", 1);
        return new Journal(attempt, number, reports::say);
    }

    private void giveBack(Attempt attempt, Map<String, Object> delivery, String message, long now) {
        Journal journal = journal(attempt, delivery);
        actives.put(attempt, new Active(null, journal, now, 0));
        Map<String, Object> end = Ends.end(Life.RETURNED, message);
        end.put("durationMs", 0);
        journal.close(end, now);
    }

    /** Takes the end of a handler, on the thread of that handler. */
    private void ended(Active a, JobRun run, Map<String, Object> end) {
        long now = System.nanoTime();
        end.put("durationMs", (now - a.began) / MS);
        synchronized (this) {
            a.run = null;
            if (closed) {
                worker.leftover(a, false);
                return;
            }
            if (run.stopReason() == StopReason.LOST) {
                end.put("status", StopReason.LOST.status); // it counts nowhere, and its receipt frees the slot
            }
            life.end(a.journal.attempt, (String) end.get("status"));
            a.journal.close(end, now);
        }
    }

    /** How long to wait after so many failures: not at all while there are other servers to ask. */
    long backOff(int failed, Exception e) {
        if (e instanceof Client.Refused && (((Client.Refused) e).status == 401 || ((Client.Refused) e).status == 403)) {
            failure = "the server refuses the token of this worker: " + e.getMessage();
            try {
                worker.token.get(true);
            } catch (IOException | IllegalArgumentException unreadable) {
                LOG.log(Level.WARNING, "the token cannot be read: {0}", unreadable.getMessage());
            }
        } else if (failed < worker.servers.size()) {
            return 0;
        }
        double most = Math.min(0.2 * (1 << Math.min(failed / worker.servers.size(), 8)), 5.0);
        long delay = (long) (ThreadLocalRandom.current().nextDouble(0.5, 1.0) * most * SECOND);
        return e instanceof Client.Refused ? Math.max(delay, ((Client.Refused) e).retryAfterMs * MS) : delay;
    }
}
