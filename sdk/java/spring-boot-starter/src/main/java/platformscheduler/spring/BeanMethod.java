package platformscheduler.spring;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import org.springframework.core.convert.ConversionException;
import org.springframework.core.convert.ConversionService;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.util.ReflectionUtils;
import platformscheduler.worker.FatalJobException;
import platformscheduler.worker.JobHandler;
import platformscheduler.worker.JobRun;

/** A handler that calls a method of a bean. */
final class BeanMethod implements JobHandler {
    private static final ConversionService CONVERSION = DefaultConversionService.getSharedInstance();

    private final Object bean;
    private final Method method;
    private final Class<?>[] types;
    private final JobField[] fields;

    /** The annotations are those of the declared method; a proxy may have a method without any. */
    BeanMethod(String name, Object bean, Method invocable, Method declared) {
        this.bean = bean;
        this.method = invocable;
        types = invocable.getParameterTypes();
        fields = new JobField[types.length];
        Parameter[] parameters = declared.getParameters();
        for (int i = 0; i < types.length; i++) {
            fields[i] = parameters[i].getAnnotation(JobField.class);
            if (fields[i] == null && types[i] != JobRun.class) {
                throw new IllegalStateException("the handler \"" + name + "\", " + declared + ": parameter " + (i + 1)
                        + " is neither a JobRun nor has it a @JobField");
            }
        }
        ReflectionUtils.makeAccessible(invocable);
    }

    @Override
    public Object run(JobRun run) throws Exception {
        Object[] arguments = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            arguments[i] = fields[i] == null ? run : field(run, fields[i], types[i]);
        }
        try {
            return method.invoke(bean, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error) {
                throw (Error) e.getCause();
            }
            throw (Exception) e.getCause();
        }
    }

    /** A field that does not fit now will not fit at the next attempt, either. */
    private static Object field(JobRun run, JobField field, Class<?> type) {
        Object value = run.data().get(field.value());
        if (value == null && field.required()) {
            throw new FatalJobException("the data of the job have no field \"" + field.value() + "\"");
        }
        try {
            if (value == null) {
                return type.isPrimitive() ? CONVERSION.convert(type == boolean.class ? "false" : "0", type) : null;
            }
            return type.isInstance(value) ? value : CONVERSION.convert(value, type);
        } catch (ConversionException e) {
            throw new FatalJobException("the field \"" + field.value() + "\" of the job's data is no "
                    + type.getSimpleName(), e);
        }
    }
}
