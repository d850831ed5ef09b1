package platformscheduler.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** RFC 8259: what is JSON, and what is none. */
class JsonTest {
    @Test
    void valuesAreReadAndWritten() {
        String text = "{\"a\":[1,-2.5,true,false,null,\"x\\\"\\\\\\n\\u0001ä😀\"],\"b\":{},\"c\":[],\"d\":9007199254740993}";
        Object value = Json.read(" " + text + "\n");
        assertEquals(text, Json.write(value));
        assertEquals(9007199254740993L, Json.object(value).get("d"));
        assertEquals(new BigDecimal("123456789012345678901"), Json.read("123456789012345678901"));
        assertEquals(-1234567890123456789L, Json.read("-1234567890123456789"));
        assertEquals(1e300, Json.read("1E+300"));
        assertEquals("é/", Json.read("\"\\u00e9\\/\""));
    }

    @Test
    void whatIsNoJsonIsRefused() {
        for (String text : new String[] {"", "{", "[1,]", "{\"a\"}", "01", "1.", "-", "+1", "nul", "\"\n\"", "\"\\x\"",
            "\"\\u12g4\"", "[1] 2", "{\"a\":1,}", "NaN", "'a'", "\"a"}) {
            assertThrows(IllegalArgumentException.class, () -> Json.read(text), text);
        }
        String deep = String.join("", Collections.nCopies(100_000, "["));
        assertThrows(IllegalArgumentException.class, () -> Json.read(deep), "the depth has a bound");
    }

    @Test
    void halfSurrogatesAndNumbersThatJsonDoesNotHaveAreReplaced() {
        Map<String, Object> value = new LinkedHashMap<>();
        value.put("a", "x\ud800y\udc00");
        value.put("b", Arrays.asList(Double.NaN, 1.5f));
        assertEquals("{\"a\":\"x\ufffdy\ufffd\",\"b\":[null,1.5]}", Json.write(value));
    }

    @Test
    void textsAreCutBetweenCharacters() {
        String text = String.join("", Collections.nCopies(40_000, "ä"));
        String cut = Texts.cut(text, Texts.RESULT);
        assertEquals(64 << 10, Texts.bytes(cut) + 1, "one byte would be half a character");
        assertEquals("äx", Texts.cut("äx", 3));
        assertEquals("😀…", Texts.cut("😀😀", 7));
    }
}
