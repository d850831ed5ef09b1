package platformscheduler.worker;

/** Why a worker has ended otherwise than by a drain. */
public class WorkerException extends Exception {
    public WorkerException(String message) {
        super(message);
    }

    public WorkerException(String message, Throwable cause) {
        super(message, cause);
    }
}
