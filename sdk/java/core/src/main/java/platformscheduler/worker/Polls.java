package platformscheduler.worker;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

/** The polls of a life: one is parked at a server, and a newer one ends it. */
final class Polls {
    /** How many polls may be under way. One is parked; a newer one ends it, and one may hang at a dead server. */
    private static final int MAX = 3;
    private static final long MAX_WAIT_MS = 20_000;

    private final Session session;
    private final Life life;
    private final Worker worker;
    private long beatMs;
    private long waitMs;
    /** Whether a poll is to be sent, and when. */
    private boolean due = true;
    private long at = System.nanoTime();
    private long polledAt = at;
    private String polled = "";
    private int parkedFree;
    boolean stopAnswered;
    private boolean draining;
    private int threads;
    private int idle;
    private int quick;
    private int failed;

    Polls(Session session, Map<String, Object> entry) {
        this.session = session;
        life = session.life;
        worker = session.worker;
        times(entry);
    }

    private void times(Map<String, Object> from) {
        beatMs = Math.max(Json.number(from, "beatMs", beatMs > 0 ? beatMs : 10_000), 1);
        waitMs = Math.min(Math.max(Json.number(from, "waitMs", beatMs), 0), MAX_WAIT_MS);
    }

    void start() {
        synchronized (session) {
            more();
        }
    }

    /** Starts one more thread, where all others are in calls. */
    private void more() {
        if (idle == 0 && threads < MAX) {
            threads++;
            idle++;
            session.thread("poll-" + threads, this::serve);
        }
    }

    /** How many polls have no answer yet; the caller holds the monitor of the session. */
    int underWay() {
        return threads - idle;
    }

    /** Makes a poll go at that moment, or before; the caller holds the monitor of the session. */
    void soon(long when) {
        if (!due || when - at < 0) {
            due = true;
            at = when;
        }
        session.notifyAll();
    }

    /** How long until the parked poll has hung for too long. */
    long overdue(long now) {
        return polledAt + (beatMs + Math.max(beatMs / 7, 500)) * Session.MS - now;
    }

    /** Sends the beat another way where the parked poll hangs. */
    void watch(long now) {
        if (!due && overdue(now) <= 0) {
            worker.servers.next(polled);
            soon(now);
        }
    }

    /** Tells the server of slots that became free, where the parked poll has said that there are none. */
    void freed(long now) {
        if (!due && parkedFree == 0 && !life.stopping() && life.free()[Life.GENERAL] > worker.leftovers()) {
            soon(now);
        }
    }

    private void serve() throws InterruptedException {
        while (true) {
            Life.Poll poll;
            long wait;
            String server;
            Map<String, Object> body;
            synchronized (session) {
                long now = session.now();
                while (!session.closed && !(due && at - now <= 0)) {
                    session.pause(due ? at - now : Session.SECOND);
                    now = session.now();
                }
                if (session.closed || life.over(now)) {
                    session.notifyAll();
                    return;
                }
                poll = life.poll(now);
                wait = Math.min(waitMs, beatMs);
                body = body(poll, wait);
                due = false;
                polledAt = now;
                server = polled = worker.servers.now();
                idle--;
                more();
            }
            try {
                Map<String, Object> answer = worker.client.call(server, session.path + "/poll", body,
                        wait + Session.SLACK_MS);
                synchronized (session) {
                    answered(poll, answer, server);
                }
            } catch (IOException | Client.Refused e) {
                synchronized (session) {
                    failed(poll, e, server);
                }
            }
            synchronized (session) {
                idle++;
                session.notifyAll(); // a worker that drains may leave now
            }
        }
    }

    private Map<String, Object> body(Life.Poll poll, long wait) {
        parkedFree = Math.max(poll.free[Life.GENERAL] - worker.leftovers(), 0);
        List<String> running = new ArrayList<>();
        for (Attempt a : poll.running) {
            running.add(a.toString());
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("epoch", life.epoch());
        body.put("seq", poll.seq);
        body.put("ack", poll.ack);
        body.put("free", parkedFree);
        body.put("freeCommands", 0);
        body.put("running", running);
        body.put("stopping", poll.stopping);
        body.put("waitMs", wait);
        return body;
    }

    private void answered(Life.Poll poll, Map<String, Object> from, String server) {
        if (session.closed) {
            return;
        }
        long sent = polledAt;
        long now = session.now();
        if (from.containsKey("beatMs") || from.containsKey("waitMs")) {
            times(from);
        }
        if (Json.flag(from, "drain") && !draining) {
            Session.LOG.info("an operator lets this worker run out");
        }
        draining = Json.flag(from, "drain");
        Life.Answer answer = new Life.Answer();
        answer.seq = Json.number(from, "seq", 0);
        answer.leaseSeq = Json.number(from, "leaseSeq", 0);
        answer.lease = Json.number(from, "leaseMs", 0) * Session.MS;
        answer.hold = Json.flag(from, "hold");
        Map<Attempt, Map<String, Object>> deliveries = new HashMap<>();
        for (Map<String, Object> run : Json.objects(from, "runs")) {
            Attempt a = attempt(run);
            deliveries.put(a, run);
            answer.runs.add(new Life.Run(a, "COMMAND".equals(run.get("kind")) ? Life.COMMAND : Life.GENERAL));
        }
        for (Map<String, Object> stop : Json.objects(from, "cancel")) {
            answer.cancel.add(new Life.Stop(attempt(stop), Json.text(stop, "reason")));
        }
        boolean any = session.take(life.answer(answer, now), deliveries, now);
        if (poll.seq != life.seq()) {
            return; // a newer poll is under way
        }
        failed = 0;
        session.failure = "";
        stopAnswered |= poll.stopping;
        boolean early = !any && now - sent < Math.min(beatMs, waitMs) * Session.MS / 2;
        quick = early ? quick + 1 : 0;
        long delay = quick > 1 ? Math.min(Math.min(50L << Math.min(quick - 1, 5), 1000), beatMs / 2) : 0;
        if (poll.stopping) {
            delay = Math.max(delay, Math.min(beatMs / 2, 1000)); // such polls are answered at once
        }
        long after = Math.min(Json.number(from, "retryAfterMs", 0), 60_000);
        if (after > 0) {
            delay = Math.max(delay, after);
            worker.servers.next(server);
        }
        soon(now + delay * Session.MS);
    }

    private static Attempt attempt(Map<String, Object> of) {
        return new Attempt(Json.text(of, "executionId"), Json.number(of, "token", 0));
    }

    private void failed(Life.Poll poll, Exception e, String server) {
        if (session.closed) {
            return;
        }
        worker.servers.next(server);
        if (e instanceof Client.Refused && ((Client.Refused) e).code.equals("epoch_lost")) {
            Session.LOG.log(Level.WARNING, "this life of the worker is over: {0}", e.getMessage());
            life.lost();
            session.notifyAll();
        }
        if (poll.seq != life.seq()) {
            return;
        }
        if (failed++ == 0) {
            Session.LOG.log(Level.WARNING, "poll: {0}", e.getMessage());
        }
        soon(session.now() + session.backOff(failed, e));
    }
}
