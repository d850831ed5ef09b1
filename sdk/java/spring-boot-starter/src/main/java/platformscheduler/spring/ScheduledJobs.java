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

    ScheduledJobs(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
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
    }
}
