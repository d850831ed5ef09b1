package platformscheduler.spring;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import platformscheduler.worker.JobHandler;

/** The handlers of this program: methods of beans with {@link ScheduledJob}. */
public class ScheduledJobs implements SmartInitializingSingleton {
    private final ConfigurableListableBeanFactory beans;
    private final Map<String, JobHandler> handlers = new LinkedHashMap<>();
    private final Map<String, Map<String, Object>> declared = new LinkedHashMap<>();

    ScheduledJobs(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /** The fields of the jobs that are declared, by their handlers. */
    Map<String, Map<String, Object>> declared() {
        return Collections.unmodifiableMap(declared);
    }

    Map<String, JobHandler> handlers() {
        return Collections.unmodifiableMap(handlers);
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = ScopedProxyUtils.isScopedTarget(name) ? null : typeOf(name);
            if (type == null || type.getName().startsWith("org.springframework.")) {
                continue;
            }
            Map<Method, ScheduledJob> methods = MethodIntrospector.selectMethods(type,
                    (MethodIntrospector.MetadataLookup<ScheduledJob>) method ->
                            AnnotatedElementUtils.findMergedAnnotation(method, ScheduledJob.class));
            methods.forEach((method, job) -> add(name, method, job));
        }
    }

    private Class<?> typeOf(String bean) {
        try {
            return AutoProxyUtils.determineTargetClass(beans, bean);
        } catch (RuntimeException | LinkageError e) {
            return null; // the type of a bean that nobody has asked for, and whose classes are not all there
        }
    }

    private void add(String bean, Method method, ScheduledJob job) {
        String name = beans.resolveEmbeddedValue(job.value());
        Object target = beans.getBean(bean);
        BeanMethod handler = new BeanMethod(name, target, AopUtils.selectInvocableMethod(method, target.getClass()),
                method);
        if (handlers.putIfAbsent(name, handler) != null) {
            throw new IllegalStateException("two methods are the handler \"" + name + "\"; one is " + method);
        }
        String cron = text(job.cron());
        if (!cron.isEmpty()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            Map<String, Object> schedule = new LinkedHashMap<>();
            put(schedule, "cronExpression", cron);
            put(schedule, "timeZone", text(job.zone()));
            fields.put("schedule", schedule);
            put(fields, "name", text(job.name()));
            put(fields, "group", text(job.group()));
            declared.put(name, fields);
        } else if (job.cron().isEmpty() && (!job.zone().isEmpty() || !job.name().isEmpty() || !job.group().isEmpty())) {
            throw new IllegalStateException("the handler \"" + name + "\", " + method
                    + ": zone, name and group are of a declared job, which needs a cron");
        }
    }

    private String text(String given) {
        String resolved = beans.resolveEmbeddedValue(given);
        return resolved == null ? "" : resolved;
    }

    private static void put(Map<String, Object> fields, String name, String text) {
        if (!text.isEmpty()) {
            fields.put(name, text);
        }
    }
}
