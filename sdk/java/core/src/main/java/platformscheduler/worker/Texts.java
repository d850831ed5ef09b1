package platformscheduler.worker;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Texts within the bounds of the protocol. */
final class Texts {
    /** The bounds of a line, a result or checkpoint, and a message, in bytes of UTF-8. */
    static final int LINE = 8 << 10;
    static final int RESULT = 64 << 10;
    static final int MESSAGE = 4 << 10;

    private static final String MARK = "…";
    /** What ends a line, and what follows one that the next line replaces, as on a terminal. */
    private static final Pattern END = Pattern.compile("\r*\n|\r+");
    private static final String REPLACED = "\r";

    private Texts() {
    }

    static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** The lines of a text, each within its bound. One that carriage returns alone ended has one at its end. */
    static List<String> lines(String text) {
        List<String> out = new ArrayList<>();
        Matcher end = END.matcher(text);
        int at = 0;
        while (end.find()) {
            String mark = end.group().endsWith("\n") ? "" : REPLACED;
            out.add(cut(text.substring(at, end.start()), LINE - mark.length()) + mark);
            at = end.end();
        }
        if (at < text.length() || text.isEmpty()) {
            out.add(cut(text.substring(at), LINE));
        }
        return out;
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
