package platformscheduler.worker;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings of a worker. */
public final class WorkerBuilder {
    private static final int MAX_SLOTS = 1000;

    final List<String> servers = new ArrayList<>();
    final Map<String, JobHandler> handlers = new LinkedHashMap<>();
    final List<Map<String, Object>> declared = new ArrayList<>();
    final Map<String, String> labels = new LinkedHashMap<>();
    String group = "";
    String token;
    Path tokenFile;
    String instance;
    int slots = 8;
    int weight = 1;
    String version = "";
    Duration grace = Duration.ofSeconds(30);
    Path caFile;
    boolean allowPlain;

    WorkerBuilder() {
    }

    /** The addresses of nodes; one text may hold several, with commas. */
    public WorkerBuilder servers(String... urls) {
        for (String url : urls) {
            servers.add(url);
        }
        return this;
    }

    /** The file with the token of the worker group; it is read anew when it changes. */
    public WorkerBuilder tokenFile(Path file) {
        tokenFile = file;
        return this;
    }

    /** The token of the worker group, where there is no file of it. */
    public WorkerBuilder token(String text) {
        token = text;
        return this;
    }

    /** The worker group. */
    public WorkerBuilder group(String name) {
        group = name;
        return this;
    }

    /** The name of this process, the same over its restarts; the host name by default. */
    public WorkerBuilder instance(String name) {
        instance = name;
        return this;
    }

    /** Runs at once; 8 by default. */
    public WorkerBuilder slots(int count) {
        slots = count;
        return this;
    }

    /** A label, which jobs may ask for. */
    public WorkerBuilder label(String name, String value) {
        labels.put(name, value);
        return this;
    }

    /** The share of runs under the strategy WEIGHTED; 1 by default. */
    public WorkerBuilder weight(int share) {
        weight = share;
        return this;
    }

    /** The version of your program, for people. */
    public WorkerBuilder version(String text) {
        version = text;
        return this;
    }

    /** How long {@link Worker#run} leaves to runs when the process is asked to end; 30 s by default. */
    public WorkerBuilder grace(Duration time) {
        grace = time;
        return this;
    }

    /** Trusts the authorities of this PEM file alone. */
    public WorkerBuilder caFile(Path file) {
        caFile = file;
        return this;
    }

    /** Allows plain http also to other machines: the token is then readable on the way. */
    public WorkerBuilder allowPlain() {
        allowPlain = true;
        return this;
    }

    /** Registers a handler under a name, the jobClass of jobs. */
    public WorkerBuilder handler(String name, JobHandler handler) {
        if (name == null || name.isEmpty() || !name.trim().equals(name) || name.length() > 255) {
            throw new IllegalArgumentException(
                    "\"" + name + "\" is no name of a handler: 1 to 255 characters without outer spaces");
        }
        if (handler == null) {
            throw new IllegalArgumentException("the handler " + name + " is null");
        }
        if (handlers.putIfAbsent(name, handler) != null) {
            throw new IllegalArgumentException("there is a handler " + name + " already");
        }
        return this;
    }

    /** Declares a job for a handler, by its name and a cron expression; see {@link #declare(String, Map)}. */
    public WorkerBuilder declare(String handler, String cron) {
        return declare(handler, Collections.singletonMap("schedule", Collections.singletonMap("cronExpression", cron)));
    }

    /**
     * Declares a job for a handler: the servers create it where there is none of its name, and overwrite nothing. The
     * fields are those of a job in JSON: name (the handler's by default), group, schedule, jobData and so on. A new job
     * fires when a person has resumed it. The worker group needs declare.
     */
    public WorkerBuilder declare(String handler, Map<String, ?> fields) {
        Map<String, Object> job = new LinkedHashMap<>();
        job.put("name", handler);
        job.put("jobClass", handler);
        job.putAll(fields);
        declared.add(job);
        return this;
    }

    /**
     * Makes the worker, which does nothing before its start. Settings that cannot work are refused with
     * IllegalArgumentException, a file that cannot be read with IOException.
     */
    public Worker build() throws IOException {
        if (group == null || group.isEmpty()) {
            throw new IllegalArgumentException("name the worker group: group(…)");
        }
        if (slots < 1 || slots > MAX_SLOTS) {
            throw new IllegalArgumentException("slots(" + slots + "): a worker has 1 to " + MAX_SLOTS + " slots");
        }
        if (grace.isNegative()) {
            throw new IllegalArgumentException("grace(" + grace + "): the grace is not negative");
        }
        for (Map<String, Object> job : declared) {
            if (!handlers.containsKey(String.valueOf(job.get("jobClass")))) {
                throw new IllegalArgumentException("there is no handler " + job.get("jobClass") + " for the declared job "
                        + job.get("name"));
            }
        }
        return new Worker(this);
    }
}
