package platformscheduler.worker;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/** The token of the worker group: a text, or a file that is read anew when it has changed. */
final class TokenSource {
    private final Path file;
    private String text;
    private String seen = "";

    TokenSource(String token, Path file) throws IOException {
        if ((token == null || token.isEmpty()) == (file == null)) {
            throw new IllegalArgumentException("give the token of the worker group: tokenFile(…) or token(…)");
        }
        this.file = file;
        if (file == null) {
            text = checked(token, "the token");
        } else {
            get(true);
        }
    }

    /** The token as it is now. A file that cannot be read any more leaves the former one. */
    synchronized String get(boolean again) throws IOException {
        if (file == null) {
            return text;
        }
        try {
            BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
            String state = now.lastModifiedTime() + " " + now.size() + " " + now.fileKey();
            if (again || !state.equals(seen)) {
                if (now.size() > 4096) {
                    throw new IllegalArgumentException("the file " + file + " is too large for a token");
                }
                text = checked(new String(Files.readAllBytes(file), StandardCharsets.UTF_8), "the file " + file);
                seen = state;
            }
        } catch (IOException | IllegalArgumentException e) {
            if (text == null) {
                throw e;
            }
        }
        return text;
    }

    private static String checked(String text, String where) {
        String token = text.trim();
        if (token.isEmpty() || !token.chars().allMatch(c -> c > ' ' && c < 127)) {
            throw new IllegalArgumentException(where + " holds no token: it begins with psw_ and is one word");
        }
        return token;
    }
}
