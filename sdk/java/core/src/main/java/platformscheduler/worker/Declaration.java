package platformscheduler.worker;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.logging.Level;

/** Declares the jobs of a worker, once in each life. The outcome is logged, and never ends the worker. */
final class Declaration {
    /** How many jobs one call declares at most. */
    private static final int AT_ONCE = 100;
    private static final long CALL_MS = 30_000;
    private static final int TRIES = 10;
    private static final long LONGEST_WAIT_MS = 30_000;

    private final Session session;

    Declaration(Session session) {
        this.session = session;
    }

    void serve() {
        List<Map<String, Object>> all = session.worker.settings.declared;
        try {
            for (int at = 0; at < all.size(); at += AT_ONCE) {
                declare(all.subList(at, Math.min(at + AT_ONCE, all.size())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception e) {
            Session.LOG.log(Level.WARNING, "jobs were not declared: {0}", e.getMessage() == null ? e : e.getMessage());
        }
    }

    /** Declares some of them. A call that failed is repeated: it creates nothing twice. */
    private void declare(List<Map<String, Object>> jobs) throws IOException, Client.Refused, InterruptedException {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("epoch", session.life.epoch);
        body.put("jobs", jobs);
        for (int tried = 1;; tried++) {
            String server = session.worker.servers.now();
            long waitMs = 0;
            try {
                say(session.worker.client.call(server, session.path + "/jobs", body, CALL_MS));
                return;
            } catch (Client.Refused e) {
                if (e.status < 500 && e.status != 408 && e.status != 425 && e.status != 429 || tried == TRIES) {
                    throw e;
                }
                waitMs = e.retryAfterMs;
            } catch (IOException e) {
                if (tried == TRIES) {
                    throw e;
                }
            }
            session.worker.servers.next(server);
            long most = Math.min(250L << tried, LONGEST_WAIT_MS);
            if (!waits(Math.max(waitMs, ThreadLocalRandom.current().nextLong(100, most)))) {
                return; // the next life declares them
            }
        }
    }

    /** Waits so long; false when the life ends before. */
    private boolean waits(long ms) throws InterruptedException {
        long until = System.nanoTime() + ms * Session.MS;
        synchronized (session) {
            for (long left = ms; left > 0 && !session.closed; left = (until - System.nanoTime()) / Session.MS) {
                session.wait(left);
            }
            return !session.closed;
        }
    }

    private static void say(Map<String, Object> answer) {
        for (Map<String, Object> job : Json.objects(answer, "jobs")) {
            String name = Json.text(job, "group") + "/" + Json.text(job, "name");
            switch (Json.text(job, "outcome")) {
                case "CREATED":
                    Session.LOG.log(Level.INFO, "the job {0} was created; it fires when somebody has resumed it", name);
                    break;
                case "EXISTS":
                    Session.LOG.log(Level.INFO, "the job {0} exists as it is declared", name);
                    break;
                case "DIFFERS":
                    Session.LOG.log(Level.WARNING, "the job {0} differs in {1} from what is declared, and stays as it is",
                            new Object[] {name, job.get("differs")});
                    break;
                case "REFUSED":
                    List<String> why = new ArrayList<>();
                    for (Map<String, Object> fault : Json.objects(job, "errors")) {
                        why.add(Json.text(fault, "field") + ": " + Json.text(fault, "message"));
                    }
                    Session.LOG.log(Level.WARNING, "the job {0} was refused: {1}", new Object[] {name, why});
                    break;
                default: // a later server's
            }
        }
    }
}
