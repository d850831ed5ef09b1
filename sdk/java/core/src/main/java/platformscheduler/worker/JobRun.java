package platformscheduler.worker;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One attempt, as its handler sees it. Its methods are safe to call from any thread, and do nothing of note once the
 * handler is done.
 */
public final class JobRun {
    private final Map<String, Object> delivery;
    private final Map<String, Object> data;
    private final Journal journal;
    private final Instant scheduledTime;

    private String checkpoint;
    private StopReason reason;
    private Thread thread;

    JobRun(Map<String, Object> delivery, Journal journal) {
        this.delivery = delivery;
        this.journal = journal;
        Map<String, Object> all = new LinkedHashMap<>(Json.object(delivery.get("data")));
        all.putAll(Json.object(delivery.get("params")));
        data = Collections.unmodifiableMap(all);
        checkpoint = Json.text(delivery, "checkpoint");
        Instant at = null;
        try {
            at = OffsetDateTime.parse(Json.text(delivery, "scheduledTime")).toInstant();
        } catch (DateTimeParseException e) {
            // a run without a time
        }
        scheduledTime = at;
    }

    /**
     * Makes a run for the test of a handler, of the fields that a gateway delivers: {@code data}, {@code params},
     * {@code checkpoint}, {@code shardIndex} and so on. What the handler says is dropped.
     */
    public static JobRun of(Map<String, ?> delivery) {
        return new JobRun(new LinkedHashMap<>(delivery), null);
    }

    /** The id of the run, the same over automatic retries. */
    public String executionId() {
        return Json.text(delivery, "executionId");
    }

    public String jobId() {
        return Json.text(delivery, "jobId");
    }

    public String jobName() {
        return Json.text(delivery, "jobName");
    }

    /** The group of the job. */
    public String group() {
        return Json.text(delivery, "group");
    }

    public String owner() {
        return Json.text(delivery, "owner");
    }

    /** The name of the handler. */
    public String handler() {
        return Json.text(delivery, "handler");
    }

    /** Counts starts of the run, from 1. */
    public int attempt() {
        return (int) Json.number(delivery, "attempt", 1);
    }

    /** The time that the schedule names, however late the run started; null where there is none. */
    public Instant scheduledTime() {
        return scheduledTime;
    }

    /** This run's share of the work, 0 to shardTotal-1. */
    public int shardIndex() {
        return (int) Json.number(delivery, "shardIndex", 0);
    }

    /** The number of shares of the fire; 1 for plain jobs. */
    public int shardTotal() {
        return (int) Math.max(Json.number(delivery, "shardTotal", 1), 1);
    }

    /** The first of count items that is this run's, when they are spread over all shards. */
    public int shareFrom(int count) {
        int all = Math.max(count, 0);
        return shardIndex() * (all / shardTotal()) + Math.min(shardIndex(), all % shardTotal());
    }

    /** The item behind the last one that is this run's. */
    public int shareTo(int count) {
        int all = Math.max(count, 0);
        return shareFrom(count) + all / shardTotal() + (shardIndex() < all % shardTotal() ? 1 : 0);
    }

    /** A target that remembers the greatest number seen can refuse an attempt that was replaced. */
    public long fencingToken() {
        return Json.number(delivery, "fencingToken", 0);
    }

    /** The same over all attempts and replays of one piece of work. */
    public String idempotencyKey() {
        return Json.text(delivery, "idempotencyKey");
    }

    /** The value of a header traceparent for calls that the handler makes. */
    public String traceParent() {
        return Json.text(delivery, "traceparent");
    }

    /**
     * The job's data with the trigger's params laid over them, field by field. Numbers are Long, Double or BigDecimal,
     * arrays are lists, objects are maps.
     */
    public Map<String, Object> data() {
        return data;
    }

    /** A field of the data as a text; empty where it is not there. */
    public String text(String field) {
        Object v = data.get(field);
        return v == null ? "" : v instanceof Map || v instanceof Iterable ? Json.write(v) : v.toString();
    }

    /** A field of the data as a whole number, or the other value where it is not there. */
    public long number(String field, long otherwise) {
        Object v = data.get(field);
        try {
            return v instanceof Number ? ((Number) v).longValue() : v == null ? otherwise : Long.parseLong(v.toString());
        } catch (NumberFormatException e) {
            throw new FatalJobException("the field " + field + " of the job's data is no number", e);
        }
    }

    /** Writes to the run's log; each {} takes an argument. Each line of the text is a line of the log. */
    public JobRun log(String text, Object... args) {
        if (journal != null) {
            journal.log(format(text, args));
        }
        return this;
    }

    static String format(String text, Object... args) {
        StringBuilder out = new StringBuilder();
        int from = 0;
        for (Object arg : args) {
            int hole = text.indexOf("{}", from);
            if (hole < 0) {
                break;
            }
            out.append(text, from, hole).append(arg);
            from = hole + 2;
        }
        return out.append(text.substring(from)).toString();
    }

    /** Says how far the work is, 0 to 100. */
    public JobRun progress(int percent) {
        if (journal != null) {
            journal.progress(Math.min(Math.max(percent, 0), 100));
        }
        return this;
    }

    /**
     * Keeps a text that the next attempt, perhaps elsewhere, reads by {@link #lastCheckpoint}. Each call replaces the
     * former text. It is stored within a second, not before the call returns. Over 64 KiB it is cut.
     */
    public JobRun checkpoint(Object state) {
        synchronized (this) {
            checkpoint = String.valueOf(state);
        }
        if (journal != null) {
            journal.checkpoint(String.valueOf(state));
        }
        return this;
    }

    /** The latest checkpoint: this attempt's, or before its first the one of the attempt before. Empty: none. */
    public synchronized String lastCheckpoint() {
        return checkpoint;
    }

    /** Why the run is to stop; null while it may go on. */
    public synchronized StopReason stopReason() {
        return reason;
    }

    public boolean isStopped() {
        return stopReason() != null;
    }

    /** Throws {@link JobStoppedException} when the run is to stop. */
    public void throwIfStopped() {
        StopReason why = stopReason();
        if (why != null) {
            throw new JobStoppedException(why);
        }
    }

    /**
     * Asks the handler to end, and interrupts its thread; the SDK and tests call it. The first reason stays, but LOST
     * replaces it. It returns whether that changed anything.
     */
    public synchronized boolean stop(StopReason why) {
        if (reason == why || reason != null && why != StopReason.LOST) {
            return false;
        }
        reason = why;
        if (thread != null) {
            thread.interrupt();
        }
        return true;
    }

    /** Names the thread of the handler. From null on nothing is interrupted any more. */
    synchronized void runBy(Thread of) {
        thread = of;
        if (of != null && reason != null) {
            of.interrupt();
        }
    }

    /** Sleeps; an interruption is the wish that the run stops, and comes as {@link JobStoppedException}. */
    public void sleep(Duration time) throws InterruptedException {
        throwIfStopped();
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            throwIfStopped();
            throw e;
        }
    }

    @Override
    public String toString() {
        return "run " + executionId() + " of " + jobName() + ", attempt " + attempt();
    }
}
