package platformscheduler.worker;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;

/** Runs jobs of the scheduler inside this program. Make one with {@link #builder}. */
public final class Worker {
    /** The version of this SDK. */
    public static final String VERSION = "0.1.0";

    static final String PATH = "/api/v1/workers";
    private static final int PROTOCOL = 1;
    private static final long REGISTER_MS = 15_000;

    final WorkerBuilder settings;
    final Map<String, JobHandler> handlers;
    final Servers servers;
    final TokenSource token;
    final Client client;
    final SleepClock sleep = new SleepClock();
    final ExecutorService pool;

    private final Set<Object> left = new HashSet<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch asked = new CountDownLatch(1);
    private boolean started;
    private boolean stopping;
    private long graceUntil;
    private Session session;
    private volatile Exception failure;

    Worker(WorkerBuilder settings) throws IOException {
        this.settings = settings;
        handlers = Collections.unmodifiableMap(new TreeMap<>(settings.handlers));
        servers = new Servers(settings.servers, settings.allowPlain);
        token = new TokenSource(settings.token, settings.tokenFile);
        client = new Client(token, Tls.trusting(settings.caFile), "platform-scheduler-java/" + VERSION);
        // Its size is that of the slots: the life begins no more.
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> {
            Thread t = new Thread(work, "platform-scheduler-job");
            t.setDaemon(true);
            return t;
        });
    }

    public static WorkerBuilder builder() {
        return new WorkerBuilder();
    }

    /** Begins to work, in daemon threads of its own. */
    public synchronized void start() {
        if (started) {
            throw new IllegalStateException("the worker has started already: make another one");
        }
        started = true;
        Thread t = new Thread(this::serve, "platform-scheduler-worker");
        t.setDaemon(true);
        t.start();
    }

    /** Makes the worker drain: nothing new begins, and runs have so long to end. It does not wait. */
    public void drain(Duration grace) {
        Session now;
        synchronized (this) {
            if (!stopping) {
                graceUntil = System.nanoTime() + grace.toNanos();
                stopping = true;
            }
            now = session;
        }
        asked.countDown();
        if (now != null) {
            now.wake();
        }
    }

    /** Drains and waits for the end; see {@link #drain} and {@link #join}. */
    public void stop(Duration grace) throws InterruptedException, WorkerException {
        drain(grace);
        join();
    }

    /** Waits for the end. An end that is no drain is an exception. */
    public void join() throws InterruptedException, WorkerException {
        if (started) {
            ended.await();
        }
        result();
    }

    /** Waits for the end, at most so long; false when that time was over before. */
    public boolean join(Duration atMost) throws InterruptedException, WorkerException {
        if (started && !ended.await(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
        }
        result();
        return true;
    }

    private void result() throws WorkerException {
        Exception e = failure;
        if (e != null) {
            throw new WorkerException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
        }
    }

    /**
     * Starts, and drains when the process gets SIGTERM or SIGINT; a second signal ends the process at once. It returns
     * when the worker has left. Where the JVM gives no signals away, a shutdown hook drains.
     */
    public void run() throws InterruptedException, WorkerException {
        boolean handled = Signals.handle(() -> {
            if (stopping()) {
                System.err.println("a second signal: the worker ends at once, its runs are lost");
                Runtime.getRuntime().halt(1);
            }
            drain(settings.grace);
        });
        if (!handled) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                drain(settings.grace);
                try {
                    ended.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "platform-scheduler-drain"));
        }
        start();
        join();
    }

    synchronized boolean stopping() {
        return stopping;
    }

    /** When a drain stops what still runs. */
    synchronized long graceUntil() {
        return graceUntil;
    }

    /** Notes handlers that go on although their life is over: they keep their slots. */
    void leftover(Object active, boolean begins) {
        synchronized (left) {
            if (begins) {
                left.add(active);
            } else {
                left.remove(active);
            }
        }
    }

    /** How many handlers of former lives go on. */
    int leftovers() {
        synchronized (left) {
            return left.size();
        }
    }

    private void serve() {
        try {
            while (!stopping()) {
                live();
            }
        } catch (Exception e) {
            failure = e;
        } catch (Error e) {
            failure = new WorkerException("a fault of the worker: " + e, e);
            throw e;
        } finally {
            pool.shutdown();
            ended.countDown();
        }
    }

    /** One life, from its registration to its end. */
    private void live() throws InterruptedException, WorkerException, IOException {
        Session life = register();
        if (life == null) {
            return;
        }
        synchronized (this) {
            session = life;
        }
        if (!settings.declared.isEmpty()) {
            // Beside the life: it must not wait for what may fail.
            Thread t = new Thread(() -> new Declaration(life).serve(), "platform-scheduler-declare");
            t.setDaemon(true);
            t.start();
        }
        life.serve();
        synchronized (this) {
            session = null;
        }
        if (life.left) {
            Session.LOG.info("left");
        } else if (!life.failure.isEmpty()) {
            throw new WorkerException(life.failure);
        } else if (stopping()) {
            throw new WorkerException(
                    "the worker could not leave: runs did not end, or no server took their ends in time");
        } else {
            Session.LOG.warning("the lease of this life is over: its runs were told that they are lost");
        }
    }

    /** Registers with the first server that answers; null when the worker is stopped before. */
    private Session register() throws InterruptedException, WorkerException, IOException {
        Map<String, Object> body = registration();
        int failed = 0;
        int refused = 0;
        while (!stopping()) {
            String server = servers.now();
            long sent = System.nanoTime();
            long waitMs = 0;
            Exception problem;
            try {
                Map<String, Object> entry = client.call(server, PATH, body, REGISTER_MS);
                check(entry);
                Session.LOG.log(Level.INFO, "registered as {0}", Json.text(entry, "workerId"));
                return new Session(this, entry, sent);
            } catch (Client.Refused e) {
                if (e.status == 401 || e.status == 403) {
                    boolean same = token.get(false).equals(token.get(true));
                    if (same && ++refused > 1) {
                        throw new WorkerException("the server refuses the token of this worker: " + e.getMessage());
                    }
                } else if (e.status < 500 && e.status != 408 && e.status != 425 && e.status != 429
                        && !e.code.equals("instance_in_use")) {
                    throw new WorkerException("the server refuses this worker: " + e.getMessage());
                }
                waitMs = e.retryAfterMs > 0 ? e.retryAfterMs : e.code.equals("instance_in_use") ? 2000 : 0;
                problem = e;
            } catch (IOException e) {
                problem = e;
            }
            if (failed++ == 0) {
                Session.LOG.log(Level.WARNING, "register: {0}", problem.getMessage());
            }
            servers.next(server);
            if (failed >= servers.size()) {
                long most = Math.min(500L << Math.min(failed / servers.size(), 6), 30_000);
                waitMs = Math.max(waitMs, ThreadLocalRandom.current().nextLong(200, most));
            }
            asked.await(waitMs, TimeUnit.MILLISECONDS);
        }
        return null;
    }

    private Map<String, Object> registration() {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("protocol", PROTOCOL);
        body.put("group", settings.group);
        body.put("instance", settings.instance == null ? hostName() : settings.instance);
        body.put("bootId", UUID.randomUUID().toString());
        body.put("slots", settings.slots);
        body.put("commandSlots", 0);
        body.put("handlers", new ArrayList<>(new TreeSet<>(handlers.keySet())));
        body.put("labels", settings.labels);
        body.put("weight", settings.weight);
        body.put("sdk", "java/" + VERSION);
        body.put("runtime", "Java " + System.getProperty("java.version"));
        body.put("version", settings.version);
        body.put("host", hostName());
        body.put("pid", pid());
        return body;
    }

    private static void check(Map<String, Object> entry) throws IOException {
        if (!Json.text(entry, "workerId").matches("[A-Za-z0-9@._-]+") || Json.number(entry, "leaseMs", 0) <= 0
                || Json.number(entry, "epoch", -1) < 0) {
            throw new IOException("the answer to the registration is none of a server");
        }
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }

    private static long pid() {
        try {
            String name = ManagementFactory.getRuntimeMXBean().getName(); // pid@host: Java 8 has no other way
            return Long.parseLong(name.substring(0, name.indexOf('@')));
        } catch (RuntimeException e) {
            return 0;
        }
    }
}
