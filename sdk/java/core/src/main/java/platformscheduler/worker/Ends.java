package platformscheduler.worker;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the end of a handler means. */
final class Ends {
    /** The longest stack that goes into the log of a run, in bytes. */
    private static final int STACK = 8 << 10;
    /** A longer wait for the next attempt is cut to this. */
    private static final long RETRY_MS = 24 * 3_600_000L;

    private Ends() {
    }

    /** Runs a handler on this thread, and returns its end. */
    static Map<String, Object> of(JobHandler handler, JobRun run) {
        run.runBy(Thread.currentThread());
        try {
            Object result = handler.run(run);
            Map<String, Object> end = end("SUCCESS", "");
            String text = result == null ? "" : result instanceof Map || result instanceof Iterable ? Json.write(result)
                    : result.toString();
            end.put("result", Texts.cut(text, Texts.RESULT));
            return end;
        } catch (Throwable e) { // also Errors: a handler ends its run, not the worker
            return failed(e, run);
        } finally {
            run.runBy(null);
            Thread.interrupted(); // the thread goes back to the pool
        }
    }

    static Map<String, Object> end(String status, String message) {
        Map<String, Object> end = new LinkedHashMap<>();
        end.put("status", status);
        end.put("message", Texts.cut(message, Texts.MESSAGE));
        return end;
    }

    /** The end of a handler that threw. One that was asked to stop has given up, whatever it threw. */
    private static Map<String, Object> failed(Throwable e, JobRun run) {
        boolean own = e instanceof FatalJobException || e instanceof RetryAfterException
                || e instanceof JobStoppedException;
        String text = own && e.getMessage() != null ? e.getMessage() : e.toString();
        StopReason reason = run.stopReason();
        if (reason != null) {
            boolean quiet = e instanceof JobStoppedException || e instanceof InterruptedException;
            return end(reason.status, "stopped: " + reason.text() + (quiet ? "" : ": " + text));
        }
        Map<String, Object> end = end("FAILED", text);
        end.put("reason", e instanceof Exception ? "ERROR" : "PANIC");
        if (e instanceof FatalJobException) {
            end.put("noRetry", true);
        } else if (e instanceof RetryAfterException && ((RetryAfterException) e).after() != null) {
            long ms = Math.min(((RetryAfterException) e).after().getSeconds(), RETRY_MS / 1000) * 1000
                    + ((RetryAfterException) e).after().getNano() / 1_000_000;
            if (ms > 0) {
                end.put("retryAfterMs", Math.min(ms, RETRY_MS));
            }
        }
        if (!own) {
            StringWriter stack = new StringWriter();
            e.printStackTrace(new PrintWriter(stack, true));
            run.log("{}", Texts.cut(stack.toString().trim(), STACK));
        }
        return end;
    }
}
