package platformscheduler.worker;

/** Ends a handler that was asked to stop; thrown by {@link JobRun#throwIfStopped}. */
public class JobStoppedException extends RuntimeException {
    private final StopReason reason;

    public JobStoppedException(StopReason reason) {
        super("the run was stopped: " + reason.text());
        this.reason = reason;
    }

    public StopReason reason() {
        return reason;
    }
}
