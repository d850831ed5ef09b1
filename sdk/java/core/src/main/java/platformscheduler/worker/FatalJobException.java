package platformscheduler.worker;

/** Fails the run at once, whatever retries its job has. */
public class FatalJobException extends RuntimeException {
    public FatalJobException(String message) {
        super(message);
    }

    public FatalJobException(String message, Throwable cause) {
        super(message, cause);
    }
}
