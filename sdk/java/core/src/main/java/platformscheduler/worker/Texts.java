package platformscheduler.worker;

import java.nio.charset.StandardCharsets;

/** Texts within the bounds of the protocol. */
final class Texts {
    /** The bounds of a line, a result or checkpoint, and a message, in bytes of UTF-8. */
    static final int LINE = 8 << 10;
    static final int RESULT = 64 << 10;
    static final int MESSAGE = 4 << 10;

    private static final String MARK = "…";

    private Texts() {
    }

    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The text in at most so many bytes of UTF-8, whole characters alone, with a mark where something is missing. */
    static String cut(String text, int limit) {
        if (text.length() * 3L <= limit || bytes(text) <= limit) {
            return text;
        }
        int left = limit - bytes(MARK);
        int end = 0;
        while (end < text.length()) {
            int c = text.codePointAt(end);
            left -= c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            if (left < 0) {
                break;
            }
            end += Character.charCount(c);
        }
        return text.substring(0, end) + MARK;
    }
}
