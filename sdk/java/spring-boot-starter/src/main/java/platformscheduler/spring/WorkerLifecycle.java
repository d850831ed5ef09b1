package platformscheduler.spring;

import java.io.IOException;
import java.nio.file.Paths;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.context.SmartLifecycle;
import platformscheduler.worker.Worker;
import platformscheduler.worker.WorkerBuilder;
import platformscheduler.worker.WorkerException;

/** Starts the worker when all else has started, and drains it before anything else stops. */
public class WorkerLifecycle implements SmartLifecycle {
    private static final Log LOG = LogFactory.getLog(WorkerLifecycle.class);

    private final PlatformSchedulerProperties properties;
    private final ScheduledJobs jobs;
    private Worker worker;
    private volatile boolean running;

    WorkerLifecycle(PlatformSchedulerProperties properties, ScheduledJobs jobs) {
        this.properties = properties;
        this.jobs = jobs;
    }

    @Override
    public synchronized void start() {
        if (running || jobs.handlers().isEmpty()) {
            return;
        }
        try {
            worker = build();
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalStateException("platform-scheduler: " + e.getMessage(), e);
        }
        Worker now = worker;
        running = true;
        now.start();
        // It also keeps a program alive that has no other thread.
        new Thread(() -> await(now), "platform-scheduler-await").start();
    }

    private Worker build() throws IOException {
        PlatformSchedulerProperties p = properties;
        WorkerBuilder b = Worker.builder().servers(p.getServers().toArray(new String[0])).group(p.getGroup())
                .slots(p.getSlots()).weight(p.getWeight()).version(p.getVersion()).grace(p.getGrace());
        if (!p.getTokenFile().isEmpty()) {
            b.tokenFile(Paths.get(p.getTokenFile()));
        }
        if (!p.getToken().isEmpty()) {
            b.token(p.getToken());
        }
        if (!p.getInstance().isEmpty()) {
            b.instance(p.getInstance());
        }
        if (!p.getCaFile().isEmpty()) {
            b.caFile(Paths.get(p.getCaFile()));
        }
        if (p.isAllowPlain()) {
            b.allowPlain();
        }
        p.getLabels().forEach(b::label);
        jobs.handlers().forEach(b::handler);
        jobs.declared().forEach(b::declare);
        return b.build();
    }

    private void await(Worker of) {
        try {
            of.join();
        } catch (WorkerException e) {
            LOG.error("the worker has ended: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            running = false;
        }
    }

    @Override
    public synchronized void stop() {
        if (worker != null) {
            worker.drain(properties.getGrace());
            await(worker);
        }
    }

    @Override
    public void stop(Runnable callback) {
        new Thread(() -> {
            try {
                stop();
            } finally {
                callback.run();
            }
        }, "platform-scheduler-stop").start();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return DEFAULT_PHASE;
    }
}
