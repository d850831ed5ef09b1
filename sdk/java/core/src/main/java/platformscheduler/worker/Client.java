package platformscheduler.worker;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;

/** Calls of the worker protocol by HttpURLConnection, HTTP/1.1. It is safe for concurrent use. */
final class Client {
    /** The largest answer that is read; a server sends 1 MiB at most. */
    private static final int MAX_ANSWER = 8 << 20;
    private static final int CONNECT_MS = 15_000;

    /** An answer that is not a success. */
    static final class Refused extends Exception {
        final int status;
        final String code;
        final long retryAfterMs;

        Refused(int status, String code, String detail, long retryAfterMs) {
            super(detail.isEmpty() ? "the server answers " + status : detail);
            this.status = status;
            this.code = code;
            this.retryAfterMs = retryAfterMs;
        }
    }

    private final TokenSource token;
    private final SSLSocketFactory tls;
    private final String agent;

    Client(TokenSource token, SSLSocketFactory tls, String agent) {
        this.token = token;
        this.tls = tls;
        this.agent = agent;
    }

    /**
     * Makes a call and returns its answer; no redirect is followed. HttpURLConnection may repeat a call whose connection
     * was closed. That is harmless: each call of the protocol may be repeated.
     */
    Map<String, Object> call(String server, String path, Map<String, Object> body, long ms) throws IOException, Refused {
        try {
            return once(server, path, body, ms);
        } catch (IOException | RuntimeException e) {
            throw new IOException(server + ": " + (e.getMessage() == null ? e.toString() : e.getMessage()), e);
        }
    }

    private Map<String, Object> once(String server, String path, Map<String, Object> body, long ms)
            throws IOException, Refused {
        long until = System.nanoTime() + ms * 1_000_000;
        byte[] data = Json.write(body).getBytes(StandardCharsets.UTF_8);
        HttpURLConnection c = (HttpURLConnection) new URL(server + path).openConnection();
        if (tls != null && c instanceof HttpsURLConnection) {
            ((HttpsURLConnection) c).setSSLSocketFactory(tls);
        }
        c.setInstanceFollowRedirects(false);
        c.setUseCaches(false);
        c.setConnectTimeout((int) Math.min(ms, CONNECT_MS));
        c.setReadTimeout((int) ms);
        c.setRequestMethod("POST");
        c.setDoOutput(true);
        c.setRequestProperty("Authorization", "Bearer " + token.get(false));
        c.setRequestProperty("Content-Type", "application/json");
        c.setRequestProperty("Accept", "application/json");
        c.setRequestProperty("User-Agent", agent);
        try (OutputStream out = c.getOutputStream()) {
            out.write(data);
        }
        int status = c.getResponseCode();
        if (status < 100) {
            c.disconnect();
            throw new IOException("the answer is none of HTTP");
        }
        InputStream in = status < 400 ? c.getInputStream() : c.getErrorStream();
        String text = "";
        if (in != null) {
            try (InputStream closing = in) {
                text = read(closing, until);
            } catch (IOException e) {
                c.disconnect();
                throw e;
            }
        }
        return answer(c, status, text);
    }

    private static String read(InputStream in, long until) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[16 << 10];
        for (int n = in.read(part); n >= 0; n = in.read(part)) {
            out.write(part, 0, n);
            if (out.size() > MAX_ANSWER) {
                throw new IOException("the answer is too large");
            }
            if (System.nanoTime() - until > 0) {
                throw new IOException("the answer did not end in time");
            }
        }
        return new String(out.toByteArray(), StandardCharsets.UTF_8);
    }

    private static Map<String, Object> answer(HttpURLConnection c, int status, String text) throws IOException, Refused {
        Map<String, Object> answer = Json.object(null);
        try {
            answer = Json.object(text.isEmpty() ? null : Json.read(text));
        } catch (IllegalArgumentException e) {
            if (status < 300) {
                throw new IOException("the answer is no JSON", e);
            }
        }
        if (status < 300) {
            return answer;
        }
        String detail = Texts.cut(Json.text(answer, "detail"), 1000);
        if (status < 400) {
            detail = "the server answers " + status + ", a redirect: name the address that it leads to";
        }
        throw new Refused(status, Json.text(answer, "code"), detail, retryAfter(c.getHeaderField("Retry-After")));
    }

    private static long retryAfter(String header) {
        try {
            return header == null ? 0 : Math.min(Math.max(Long.parseLong(header.trim()), 0), 60) * 1000;
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
