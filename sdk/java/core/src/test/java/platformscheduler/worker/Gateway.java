package platformscheduler.worker;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A small gateway for tests: it answers as it is told, and remembers what it was asked. Its monitor guards all. */
public final class Gateway implements AutoCloseable {
    /** How long a test waits for an event. A test that waits so long fails. */
    static final long LONG_MS = 30_000;

    static final class Call {
        final String kind;
        final Map<String, Object> body;
        final String token;

        Call(String kind, Map<String, Object> body, String token) {
            this.kind = kind;
            this.body = body;
            this.token = token;
        }
    }

    /** An answer that is no success. */
    static final class Status {
        final int status;
        final String text;

        Status(int status, String text) {
            this.status = status;
            this.text = text;
        }
    }

    final List<Call> calls = new ArrayList<>();
    /** What is answered in the stead of the usual, by kind of call. Each counts once; one that returns null waits. */
    final Map<String, List<Function<Map<String, Object>, Object>>> scripts = new LinkedHashMap<>();
    final List<Object> queue = new ArrayList<>();
    final List<Object> cancels = new ArrayList<>();
    long beatMs = 5000;
    long leaseMs = 20_000;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private long epoch;
    private long newest;

    public Gateway() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::serve);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    public synchronized void script(String kind, Function<Map<String, Object>, Object> script) {
        scripts.computeIfAbsent(kind, k -> new ArrayList<>()).add(script);
    }

    public synchronized void run(String name, String handler, Object... fields) {
        Map<String, Object> run = map("executionId", name, "token", 7L, "attempt", 1L, "handler", handler);
        run.putAll(map(fields));
        queue.add(run);
        notifyAll();
    }

    public synchronized void cancel(String name, String reason) {
        cancels.add(map("executionId", name, "token", 7L, "reason", reason));
        notifyAll();
    }

    public static Map<String, Object> map(Object... fields) {
        Map<String, Object> out = new LinkedHashMap<>();
        for (int i = 0; i < fields.length; i += 2) {
            out.put((String) fields[i], fields[i + 1]);
        }
        return out;
    }

    public synchronized void until(String what, BooleanSupplier is) throws InterruptedException {
        long end = System.nanoTime() + LONG_MS * 1_000_000;
        while (!is.getAsBoolean()) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                throw new AssertionError("never: " + what);
            }
            wait(left);
        }
    }

    public synchronized List<Map<String, Object>> of(String kind) {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Call c : calls) {
            if (c.kind.equals(kind)) {
                out.add(c.body);
            }
        }
        return out;
    }

    /** The items with the end of a run. */
    public synchronized List<Map<String, Object>> ends(String name) {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Map<String, Object> item : items(name)) {
            if (item.containsKey("end")) {
                out.add(item);
            }
        }
        return out;
    }

    synchronized List<Map<String, Object>> items(String name) {
        List<Map<String, Object>> out = new ArrayList<>();
        for (Map<String, Object> body : of("report")) {
            for (Map<String, Object> item : Json.objects(body, "items")) {
                if (item.get("executionId").equals(name)) {
                    out.add(item);
                }
            }
        }
        return out;
    }

    /** Waits for the end of a run. */
    public Map<String, Object> ended(String name) throws InterruptedException {
        until("the end of " + name, () -> !ends(name).isEmpty());
        return Json.object(ends(name).get(0).get("end"));
    }

    /** The lines of a run by their numbers, as a server takes them. */
    public synchronized List<Object> lines(String name) {
        List<Object> out = new ArrayList<>();
        for (Map<String, Object> item : items(name)) {
            long number = Json.number(item, "lineFrom", 1);
            if (item.get("lines") instanceof List) {
                for (Object line : (List<?>) item.get("lines")) {
                    if (number++ == out.size() + 1) {
                        out.add(line);
                    }
                }
            }
        }
        return out;
    }

    private void serve(HttpExchange exchange) throws IOException {
        ByteArrayOutputStream in = new ByteArrayOutputStream();
        byte[] part = new byte[8192];
        for (int n = exchange.getRequestBody().read(part); n >= 0; n = exchange.getRequestBody().read(part)) {
            in.write(part, 0, n);
        }
        Map<String, Object> body = Json.object(Json.read(new String(in.toByteArray(), StandardCharsets.UTF_8)));
        String path = exchange.getRequestURI().getPath();
        String kind = path.endsWith("/workers") ? "register" : path.substring(path.lastIndexOf('/') + 1);
        Object answer;
        try {
            answer = answer(kind, body, exchange.getRequestHeaders().getFirst("Authorization"));
        } catch (InterruptedException e) {
            exchange.close();
            return;
        }
        if ("cut".equals(answer)) {
            exchange.close();
            return;
        }
        Status status = answer instanceof Status ? (Status) answer : new Status(200, Json.write(answer));
        if (status.status / 100 == 3) {
            exchange.getResponseHeaders().set("Location", url() + "/elsewhere");
        }
        byte[] data = status.text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status.status, data.length);
        exchange.getResponseBody().write(data);
        exchange.close();
    }

    private synchronized Object answer(String kind, Map<String, Object> body, String token) throws InterruptedException {
        calls.add(new Call(kind, body, token));
        notifyAll();
        List<Function<Map<String, Object>, Object>> waiting = scripts.getOrDefault(kind, new ArrayList<>());
        if (!waiting.isEmpty()) {
            Object answer = waiting.get(0).apply(body);
            if (answer != null) {
                waiting.remove(0);
                return answer;
            }
        }
        switch (kind) {
            case "register":
                newest = 0;
                return map("workerId", "@shop.abc", "epoch", ++epoch, "protocol", 1, "beatMs", beatMs, "leaseMs",
                        leaseMs, "waitMs", beatMs, "unknown", map("deep", 1));
            case "poll":
                return poll(body);
            case "report":
                List<Object> receipts = new ArrayList<>();
                for (Map<String, Object> item : Json.objects(body, "items")) {
                    receipts.add(receipt(item, "ACCEPTED"));
                }
                return map("items", receipts);
            default:
                return map();
        }
    }

    static Map<String, Object> receipt(Map<String, Object> item, String kind) {
        Map<String, Object> out = map("executionId", item.get("executionId"), "token", item.get("token"));
        if (item.get("lines") instanceof List) {
            out.put("line", Json.number(item, "lineFrom", 1) + ((List<?>) item.get("lines")).size() - 1);
        }
        if (item.containsKey("end")) {
            out.put("receipt", kind);
        }
        return out;
    }

    private Object poll(Map<String, Object> body) throws InterruptedException {
        long seq = Json.number(body, "seq", 0);
        newest = Math.max(newest, seq);
        notifyAll();
        boolean stopping = Json.flag(body, "stopping");
        int free = (int) Json.number(body, "free", 0);
        long end = System.nanoTime() + Json.number(body, "waitMs", 0) * 1_000_000;
        while (newest == seq && !stopping && cancels.isEmpty() && (queue.isEmpty() || free == 0)) {
            long left = (end - System.nanoTime()) / 1_000_000;
            if (left <= 0) {
                break;
            }
            wait(left);
        }
        if (newest != seq) {
            return map("seq", seq);
        }
        List<Object> runs = new ArrayList<>();
        while (!stopping && !queue.isEmpty() && runs.size() < free) {
            runs.add(queue.remove(0));
        }
        List<Object> stops = new ArrayList<>(cancels);
        cancels.clear();
        return map("seq", seq, "leaseSeq", seq, "leaseMs", leaseMs, "beatMs", beatMs, "waitMs", beatMs, "runs", runs,
                "cancel", stops);
    }
}
