package platformscheduler.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** A field of the job's data, with the trigger's params laid over them, converted to the type of the parameter. */
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface JobField {
    /** The name of the field. */
    String value();

    /** Whether a run without the field fails, without retries. Else the parameter is null, or zero. */
    boolean required() default true;
}
