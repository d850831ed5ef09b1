package platformscheduler.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is kept of a run until the server has it. */
class JournalTest {
    private static final int LIMIT = 1_000_000;
    private static final String LINE = String.join("", Collections.nCopies(1023, "x"));

    private final List<Boolean> woken = new ArrayList<>();
    private final Journal journal = new Journal(new Attempt("e1", 7), 2, woken::add);

    @Test
    void linesAreKeptUntilTheServerHasThem() {
        journal.log("a\nb\r\nc");
        Journal.Item item = journal.item(0, LIMIT);
        assertEquals(Arrays.asList("a", "b", "c"), item.fields.get("lines"));
        assertEquals(1L, item.fields.get("lineFrom"));
        assertEquals(2, item.fields.get("attempt"));
        journal.log("d");
        journal.taken(item, 2);
        item = journal.item(0, LIMIT);
        assertEquals(Arrays.asList("c", "d"), item.fields.get("lines"));
        assertEquals(3L, item.fields.get("lineFrom"));
        journal.taken(item, 9);
        assertNull(journal.item(0, LIMIT));
        assertNull(journal.due());
    }

    @Test
    void linesEndAtEachKindOfEnd() {
        assertEquals(Arrays.asList("a\r", "b", "c", "d"), Texts.lines("a\rb\r\nc\r\r\nd\n"));
        assertEquals(Arrays.asList("10%\r", "20%\r", "100%"), Texts.lines("10%\r20%\r100%\n"));
        assertEquals(Arrays.asList("a", "", "b"), Texts.lines("a\n\nb"));
        assertEquals(Arrays.asList(""), Texts.lines(""));
        String line = Texts.lines(String.join("", Collections.nCopies(5000, "ä")) + "\r").get(0);
        assertTrue(line.endsWith("…\r"));
        assertTrue(Texts.bytes(line) <= Texts.LINE, "the end of the line counts");
    }

    @Test
    void theOldestLinesGoWithAMark() {
        for (int i = 0; i < 256 + 5; i++) {
            journal.log(LINE);
        }
        Journal.Item item = journal.item(0, LIMIT);
        List<?> lines = (List<?>) item.fields.get("lines");
        assertEquals(5L, item.fields.get("lineFrom"), "the mark takes the number of the newest missing line");
        assertTrue(lines.get(0).toString().contains("5 lines are missing"));
        assertEquals(64, lines.size() - 1);
        assertTrue(woken.get(woken.size() - 1), "there is much to send");
        journal.taken(item, item.line);
        assertEquals(item.line + 1, journal.item(0, LIMIT).fields.get("lineFrom"));
        assertEquals(LINE, ((List<?>) journal.item(0, LIMIT).fields.get("lines")).get(0));
    }

    @Test
    void theEndGoesWithTheLastLinesAndTheLastCheckpoint() {
        journal.checkpoint("c1");
        journal.progress(5);
        Journal.Item item = journal.item(0, LIMIT);
        assertEquals("c1", item.fields.get("checkpoint"));
        assertEquals(5, item.fields.get("progress"));
        journal.taken(item, item.line);
        assertNull(journal.item(0, LIMIT), "it is said once");
        journal.again();
        assertEquals("c1", journal.item(0, LIMIT).fields.get("checkpoint"), "another server does not know of it");
        for (int i = 0; i < 100; i++) {
            journal.log(LINE);
        }
        journal.close(Ends.end("SUCCESS", ""), 1_000_000);
        journal.log("late");
        item = journal.item(0, LIMIT);
        assertFalse(item.fields.containsKey("end"));
        journal.taken(item, item.line);
        item = journal.item(4_000_000, LIMIT);
        Map<String, Object> end = Json.object(item.fields.get("end"));
        assertEquals("SUCCESS", end.get("status"));
        assertEquals(3L, end.get("agoMs"));
        assertEquals("c1", item.fields.get("checkpoint"));
        assertFalse(item.fields.get("lines").toString().contains("late"));
    }

    @Test
    void linesGoAloneWhereAllTogetherIsTooLarge() {
        journal.log("x");
        journal.checkpoint(String.join("", Collections.nCopies(500, "\u0001")));
        journal.close(Ends.end("SUCCESS", ""), 0);
        Journal.Item item = journal.item(0, 1000);
        assertFalse(item.end);
        assertEquals(Collections.singletonList("x"), item.fields.get("lines"));
        assertFalse(item.fields.containsKey("checkpoint"));
        assertTrue(item.size < 1000);
        journal.taken(item, item.line);
        item = journal.item(0, 1000);
        assertTrue(item.end);
        assertTrue(item.fields.containsKey("checkpoint"));
    }
}
