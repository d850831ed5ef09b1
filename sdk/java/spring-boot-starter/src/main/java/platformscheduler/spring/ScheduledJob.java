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
}
