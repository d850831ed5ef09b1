package platformscheduler.spring;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Makes this program a worker, where beans have methods with {@link ScheduledJob}. */
@AutoConfiguration
@EnableConfigurationProperties(PlatformSchedulerProperties.class)
@ConditionalOnProperty(prefix = "platform-scheduler", name = "enabled", matchIfMissing = true)
public class PlatformSchedulerAutoConfiguration {
    /** Finds the handlers when all beans are there. */
    @Bean
    @ConditionalOnMissingBean
    public ScheduledJobs platformSchedulerJobs(ConfigurableListableBeanFactory beans) {
        return new ScheduledJobs(beans);
    }

    /** Starts the worker last, and drains it first. */
    @Bean
    @ConditionalOnMissingBean
    public WorkerLifecycle platformSchedulerWorker(PlatformSchedulerProperties properties, ScheduledJobs jobs) {
        return new WorkerLifecycle(properties, jobs);
    }
}
