package platformscheduler.worker;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

/** The reports of a life: one at a time, with all that is to be said by then. */
final class Reports {
    /** How often lines, progress and checkpoints are sent. */
    private static final long FLUSH = 500 * Session.MS;
    /** How long a report may take: the server answers within two seconds. */
    private static final long REPORT_MS = 15_000;
    /** How long the body of a report may be; the server refuses over 1 MiB. */
    private static final int MAX_BODY = 1_000_000;

    private final Session session;
    private volatile boolean due;
    private long at;
    private int failed;
    private int batch;
    private String last = "";
    /** Whether the latest report left out what it had no room for. */
    private boolean more;

    Reports(Session session) {
        this.session = session;
        batch = session.maxItems;
    }

    /** Makes a report go: now, or within half a second. */
    void say(boolean urgent) {
        if (due && !urgent) {
            return;
        }
        synchronized (session) {
            if (!due || urgent && failed == 0) {
                soon(System.nanoTime() + (urgent ? 0 : FLUSH));
            }
        }
    }

    private void soon(long when) {
        if (!due || when - at < 0) {
            at = when;
        }
        due = true;
        session.notifyAll();
    }

    void serve() throws InterruptedException {
        while (true) {
            String server;
            List<Journal.Item> items;
            synchronized (session) {
                long now = System.nanoTime();
                while (!session.closed && !(due && at - now <= 0)) {
                    session.pause(due ? at - now : Session.SECOND);
                    now = System.nanoTime();
                }
                if (session.closed || session.life.over(now)) {
                    session.notifyAll();
                    return;
                }
                due = false;
                server = session.worker.servers.now();
                items = items(now, server);
            }
            if (!items.isEmpty()) {
                send(items, server);
            }
        }
    }

    private void send(List<Journal.Item> items, String server) {
        List<Object> fields = new ArrayList<>();
        for (Journal.Item item : items) {
            fields.add(item.fields);
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("epoch", session.life.epoch());
        body.put("items", fields);
        try {
            Map<String, Object> answer = session.worker.client.call(server, session.path + "/report", body, REPORT_MS);
            synchronized (session) {
                reported(items, answer, server);
            }
        } catch (IOException | Client.Refused e) {
            synchronized (session) {
                failed(items, e, server);
            }
        }
    }

    private List<Journal.Item> items(long now, String server) {
        if (!server.equals(last)) { // another one may not know what the former one had not stored yet
            last = server;
            session.actives.values().forEach(a -> a.journal.again());
        }
        List<Session.Active> all = new ArrayList<>(session.actives.values());
        all.sort((a, b) -> Boolean.compare(a.run != null, b.run != null)); // ends first: they free slots
        List<Journal.Item> items = new ArrayList<>();
        int size = 0;
        more = false;
        for (Session.Active a : all) {
            Journal.Item item = a.journal.item(now, MAX_BODY);
            if (item == null) {
                continue;
            }
            if (!items.isEmpty() && (size + item.size > MAX_BODY || items.size() >= batch)) {
                more = true;
                break;
            }
            items.add(item);
            size += item.size;
        }
        return items;
    }

    private void reported(List<Journal.Item> items, Map<String, Object> from, String server) {
        if (session.closed) {
            return;
        }
        long now = session.now();
        failed = 0;
        batch = session.maxItems;
        Map<Attempt, Map<String, Object>> answers = new HashMap<>();
        for (Map<String, Object> a : Json.objects(from, "items")) {
            answers.put(new Attempt(Json.text(a, "executionId"), Json.number(a, "token", 0)), a);
        }
        boolean again = false;
        for (Journal.Item item : items) {
            Attempt attempt = item.of.attempt;
            Map<String, Object> answer = answers.get(attempt);
            if (answer == null) {
                again = true;
                continue;
            }
            String receipt = Json.text(answer, "receipt");
            item.of.taken(item, Json.number(answer, "line", item.line));
            if (!item.end) {
                if (receipt.equals("STALE")) {
                    item.of.meagre();
                }
            } else if (!receipt.isEmpty() && session.life.receipt(attempt, receipt, now)) {
                session.actives.remove(attempt);
            } else {
                again = true;
            }
        }
        if (again) {
            failed = 1;
            session.worker.servers.next(server);
            soon(now + 200 * Session.MS);
        } else {
            next(now);
        }
        session.polls.freed(now);
        session.notifyAll();
    }

    /** Sends what is left: at once where an end waits or there is much, else within half a second. */
    private void next(long now) {
        boolean some = false;
        boolean much = more;
        for (Session.Active a : session.actives.values()) {
            Boolean is = a.journal.due();
            some |= is != null;
            much |= Boolean.TRUE.equals(is);
        }
        if (some || much) {
            soon(now + (much ? 0 : FLUSH));
        }
    }

    private void failed(List<Journal.Item> items, Exception e, String server) {
        if (session.closed) {
            return;
        }
        int status = e instanceof Client.Refused ? ((Client.Refused) e).status : 0;
        if (failed++ == 0) {
            Session.LOG.log(Level.WARNING, "report: {0}", e.getMessage());
        }
        if (status == 409 && ((Client.Refused) e).code.equals("epoch_lost")) {
            session.life.lost();
            session.notifyAll();
            return;
        }
        if (status == 400 || status == 413 || status == 422) {
            // One item spoils the others: they go in smaller parts, and the one alone goes without its texts.
            if (items.size() == 1) {
                items.get(0).of.meagre();
            }
            batch = Math.max(items.size() / 2, 1);
        } else {
            session.worker.servers.next(server);
        }
        soon(session.now() + Math.max(session.backOff(failed, e), 50 * Session.MS));
    }
}
