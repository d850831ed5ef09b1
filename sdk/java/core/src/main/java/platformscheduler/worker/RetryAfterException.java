package platformscheduler.worker;

import java.time.Duration;

/** Fails the attempt, and asks for the next one after a while, at most 24 hours. */
public class RetryAfterException extends RuntimeException {
    private final Duration after;

    public RetryAfterException(Duration after, String message) {
        super(message);
        this.after = after;
    }

    public RetryAfterException(Duration after, String message, Throwable cause) {
        super(message, cause);
        this.after = after;
    }

    /** How long the next attempt waits. */
    public Duration after() {
        return after;
    }
}
