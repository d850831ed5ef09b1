package platformscheduler.worker;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What an attempt has said and the server does not have yet. It is safe for concurrent use. */
final class Journal {
    /** The bytes of lines that are kept until the server has them. Beyond, the oldest go. */
    private static final int KEPT = 256 << 10;
    /** The bytes of lines that go into one report, and that make one go at once. */
    private static final int BATCH = 64 << 10;

    /** Is called when there is something to send, with true when that should not wait. */
    interface Wake {
        void wake(boolean urgent);
    }

    /** An item of a report, and what it held, so that its answer can be understood. */
    static final class Item {
        final Map<String, Object> fields = new LinkedHashMap<>();
        Journal of;
        long line;
        long said;
        boolean end;
        int size;
    }

    private static final class Line {
        final String text;
        final int size;

        Line(String text) {
            this.text = text;
            this.size = Texts.bytes(text) + 1;
        }
    }

    final Attempt attempt;
    private final int number;
    private final Wake wake;
    private final Deque<Line> lines = new ArrayDeque<>();
    /** The number of the oldest line that is kept. */
    private long first = 1;
    private int bytes;
    /** Lines before the first that are missing; a mark takes the number of the newest of them. */
    private long dropped;
    private Integer progress;
    private String checkpoint;
    /** Counts changes of progress and checkpoint, and which of them the server has. */
    private long said;
    private long had;
    private boolean closed;
    private Map<String, Object> end;
    private long endedAt;

    Journal(Attempt attempt, int number, Wake wake) {
        this.attempt = attempt;
        this.number = number;
        this.wake = wake;
    }

    /** Adds the lines of a text. */
    void log(String text) {
        boolean urgent;
        synchronized (this) {
            if (closed) {
                return;
            }
            for (String part : Texts.lines(text)) {
                Line line = new Line(part);
                lines.addLast(line);
                bytes += line.size;
            }
            while (bytes > KEPT) {
                bytes -= lines.removeFirst().size;
                first++;
                dropped++;
            }
            urgent = bytes >= BATCH;
        }
        wake.wake(urgent);
    }

    void progress(int percent) {
        synchronized (this) {
            if (closed || progress != null && progress == percent) {
                return;
            }
            progress = percent;
            said++;
        }
        wake.wake(false);
    }

    void checkpoint(String state) {
        synchronized (this) {
            if (closed) {
                return;
            }
            checkpoint = Texts.cut(state, Texts.RESULT);
            said++;
        }
        wake.wake(false);
    }

    /** Adds the end; what the handler says from here on is dropped. */
    void close(Map<String, Object> with, long now) {
        synchronized (this) {
            closed = true;
            end = with;
            endedAt = now;
            had = 0; // the end comes with the last checkpoint, whichever server takes it
        }
        wake.wake(true);
    }

    /** Sends progress and checkpoint once more: another server may not know of them. */
    synchronized void again() {
        had = 0;
    }

    /** Drops all that is no end: the server refuses it. */
    synchronized void meagre() {
        first += lines.size();
        lines.clear();
        bytes = 0;
        dropped = 0;
        progress = null;
        checkpoint = null;
        had = said;
        if (end != null) {
            end.put("result", "");
            end.put("message", "the server refused what this attempt reported");
        }
    }

    /**
     * The next item of a report; null when there is nothing to say. An end goes with the last lines. Where all together
     * is larger than the limit, the lines go alone.
     */
    synchronized Item item(long now, int limit) {
        List<Object> texts = new ArrayList<>();
        long from = first;
        if (dropped > 0) {
            from--;
            texts.add("… " + dropped + " lines are missing here: they could not be sent in time …");
        }
        int size = 0;
        int taken = 0;
        for (Line line : lines) {
            if (size + line.size > BATCH && taken > 0) {
                break;
            }
            texts.add(line.text);
            size += line.size;
            taken++;
        }
        boolean last = end != null && taken == lines.size();
        if (texts.isEmpty() && had == said && !last) {
            return null;
        }
        Item item = named();
        item.line = from + texts.size() - 1;
        if (!texts.isEmpty()) {
            item.fields.put("lineFrom", from);
            item.fields.put("lines", texts);
        }
        Map<String, Object> alone = new LinkedHashMap<>(item.fields);
        if (had != said && progress != null) {
            item.fields.put("progress", progress);
        }
        if (had != said && checkpoint != null) {
            item.fields.put("checkpoint", checkpoint);
        }
        if (last) {
            Map<String, Object> with = new LinkedHashMap<>(end);
            with.put("agoMs", Math.max(now - endedAt, 0) / 1_000_000);
            item.fields.put("end", with);
        }
        item.end = last;
        item.said = said;
        item.size = Texts.bytes(Json.write(item.fields)) + 1;
        if (item.size > limit && !texts.isEmpty()) {
            item.fields.keySet().retainAll(alone.keySet());
            item.end = false;
            item.said = had;
            item.size = Texts.bytes(Json.write(item.fields)) + 1;
        }
        return item;
    }

    private Item named() {
        Item item = new Item();
        item.of = this;
        item.fields.put("executionId", attempt.execution);
        item.fields.put("token", attempt.token);
        item.fields.put("attempt", number);
        return item;
    }

    /** Drops what a server has: the lines up to line, and what was said until the item was made. */
    synchronized void taken(Item sent, long line) {
        if (end == null || sent.end) {
            had = Math.max(had, sent.said);
        }
        long upto = Math.min(line, sent.line);
        if (upto >= first - 1) {
            dropped = 0;
        }
        while (!lines.isEmpty() && first <= upto) {
            bytes -= lines.removeFirst().size;
            first++;
        }
    }

    /** Whether a report is to go: true at once, false soon, null not at all. */
    synchronized Boolean due() {
        if (end != null || bytes >= BATCH) {
            return true;
        }
        return !lines.isEmpty() || dropped > 0 || had != said ? false : null;
    }
}
