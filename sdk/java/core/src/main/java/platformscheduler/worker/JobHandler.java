package platformscheduler.worker;

/** The work of a job. It may be called for several runs at once. */
@FunctionalInterface
public interface JobHandler {
    /**
     * Does the work of one run. The text of the result is kept; null is none. An exception fails the attempt, see
     * {@link FatalJobException} and {@link RetryAfterException}. When the run is to stop, the thread is interrupted.
     */
    Object run(JobRun run) throws Exception;
}
