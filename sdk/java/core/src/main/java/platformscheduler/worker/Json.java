package platformscheduler.worker;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON. Objects are maps, numbers are Long, Double or BigDecimal. */
final class Json {
    /** How deep arrays and objects may lie in each other. */
    private static final int DEPTH = 128;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    static Object read(String text) {
        Json j = new Json(text);
        j.space();
        Object value = j.value();
        j.space();
        if (j.at != text.length()) {
            throw j.wrong();
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private boolean take(char c) {
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char c) {
        if (!take(c)) {
            throw wrong();
        }
    }

    private Object value() {
        switch (next()) {
            case '{':
                return object();
            case '[':
                return array();
            case '"':
                return string();
            case 't':
                return word("true", Boolean.TRUE);
            case 'f':
                return word("false", Boolean.FALSE);
            case 'n':
                return word("null", null);
            default:
                return number();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private void down() {
        at++;
        if (++depth > DEPTH) {
            throw wrong();
        }
        space();
    }

    private Map<String, Object> object() {
        down();
        Map<String, Object> out = new LinkedHashMap<>();
        if (!take('}')) {
            do {
                space();
                if (next() != '"') {
                    throw wrong();
                }
                String key = string();
                space();
                expect(':');
                space();
                out.put(key, value());
                space();
            } while (take(','));
            expect('}');
        }
        depth--;
        return out;
    }

    private List<Object> array() {
        down();
        List<Object> out = new ArrayList<>();
        if (!take(']')) {
            do {
                space();
                out.add(value());
                space();
            } while (take(','));
            expect(']');
        }
        depth--;
        return out;
    }

    private String string() {
        at++;
        StringBuilder out = new StringBuilder();
        while (true) {
            char c = next();
            at++;
            if (c == '"') {
                return out.toString();
            }
            if (c < ' ') {
                throw wrong();
            }
            out.append(c == '\\' ? escape() : c);
        }
    }

    private char escape() {
        char c = next();
        at++;
        switch (c) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                int code = 0;
                for (int i = 0; i < 4; i++) {
                    int digit = Character.digit(next(), 16);
                    if (digit < 0 || next() > 'f') {
                        throw wrong();
                    }
                    code = code * 16 + digit;
                    at++;
                }
                return (char) code;
            case '"':
            case '\\':
            case '/':
                return c;
            default:
                throw wrong();
        }
    }

    private Object number() {
        int from = at;
        take('-');
        int digits = digits();
        if (digits > 1 && text.charAt(at - digits) == '0') {
            throw wrong();
        }
        boolean whole = true;
        if (take('.')) {
            digits();
            whole = false;
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            digits();
            whole = false;
        }
        String number = text.substring(from, at);
        if (whole && number.length() < 1000) {
            try {
                return Long.valueOf(number);
            } catch (NumberFormatException e) {
                return new BigDecimal(number);
            }
        }
        return Double.valueOf(number);
    }

    private int digits() {
        int from = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == from) {
            throw wrong();
        }
        return at - from;
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            char before = '{';
            for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
                out.append(before);
                quote(out, String.valueOf(e.getKey()));
                out.append(':');
                write(out, e.getValue());
                before = ',';
            }
            out.append(before == '{' ? "{}" : "}");
        } else if (value instanceof Iterable) {
            char before = '[';
            for (Object o : (Iterable<?>) value) {
                out.append(before);
                write(out, o);
                before = ',';
            }
            out.append(before == '[' ? "[]" : "]");
        } else if (value == null || value instanceof Boolean || value instanceof Long || value instanceof Integer) {
            out.append(value);
        } else if (value instanceof Number) {
            double d = ((Number) value).doubleValue();
            out.append(Double.isNaN(d) || Double.isInfinite(d) ? "null" : value.toString());
        } else {
            quote(out, value.toString());
        }
    }

    /** Writes a text; half surrogates, which UTF-8 does not have, become the sign for a character that is not known. */
    private static void quote(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c == '\n') {
                out.append("\\n");
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else if (!Character.isSurrogate(c)) {
                out.append(c);
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                out.append(c).append(text.charAt(++i));
            } else {
                out.append('\ufffd');
            }
        }
        out.append('"');
    }

    // Fields of what a server sends, whatever it holds.

    static long number(Map<String, Object> of, String name, long otherwise) {
        Object v = of.get(name);
        return v instanceof Number ? ((Number) v).longValue() : otherwise;
    }

    static String text(Map<String, Object> of, String name) {
        Object v = of.get(name);
        return v instanceof String ? (String) v : "";
    }

    static boolean flag(Map<String, Object> of, String name) {
        return Boolean.TRUE.equals(of.get(name));
    }

    @SuppressWarnings("unchecked") // keys of what read makes are texts
    static Map<String, Object> object(Object value) {
        return value instanceof Map ? (Map<String, Object>) value : new LinkedHashMap<>();
    }

    static List<Map<String, Object>> objects(Map<String, Object> of, String name) {
        List<Map<String, Object>> out = new ArrayList<>();
        if (of.get(name) instanceof List) {
            for (Object o : (List<?>) of.get(name)) {
                out.add(object(o));
            }
        }
        return out;
    }
}
