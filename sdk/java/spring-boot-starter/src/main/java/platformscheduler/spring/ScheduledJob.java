package platformscheduler.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method of a bean the handler of jobs. Its parameters are the {@code JobRun}, and fields of the job's data that
 * are named by {@link JobField}. The text of the result is kept.
 */
@Documented
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface ScheduledJob {
    /** The name of the handler, the jobClass of jobs; placeholders are replaced. */
    String value();

    /**
     * Declares a job with this cron expression for the handler: the servers create it where there is none of its name,
     * and overwrite nothing. The worker group needs declare. Empty declares none; placeholders are replaced, as in all
     * that follows.
     */
    String cron() default "";

    /** The time zone of the declared job, as Europe/Berlin; that of the server by default. */
    String zone() default "";

    /** The name of the declared job; that of the handler by default. */
    String name() default "";

    /** The job group of the declared job; may be left out where the worker group has one. */
    String group() default "";
}
