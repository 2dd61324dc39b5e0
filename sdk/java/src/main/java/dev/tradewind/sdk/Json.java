// A strict reader of JSON (RFC 8259): Java has none.
package dev.tradewind.sdk;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one JSON text into Map, List, String, BigDecimal, Boolean and null. */
final class Json {
    private static final int DEEPEST = 32;
    private static final int LONGEST_NUMBER = 100;
    private static final Pattern NUMBER = Pattern.compile("-?(?:0|[1-9][0-9]*+)(?:\\.[0-9]++)?(?:[eE][+-]?[0-9]++)?");

    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** A text is not JSON; the message says where. */
    static final class MalformedException extends Exception {
        private static final long serialVersionUID = 1L;

        MalformedException(String message) {
            super(message);
        }
    }

    static Object parse(byte[] utf8) throws MalformedException {
        String text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
        } catch (CharacterCodingException error) {
            throw new MalformedException("it is not UTF-8.");
        }
        Json reader = new Json(text);
        reader.skipSpace();
        Object value = reader.value(DEEPEST);
        reader.skipSpace();
        if (reader.at < text.length()) {
            throw reader.unexpected();
        }
        return value;
    }

    private Object value(int depth) throws MalformedException {
        if (depth == 0) {
            throw new MalformedException("it is nested too deeply.");
        }
        return switch (peek()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int depth) throws MalformedException {
        Map<String, Object> members = new LinkedHashMap<>();
        at++;
        skipSpace();
        if (taken('}')) {
            return members;
        }
        do {
            skipSpace();
            if (peek() != '"') {
                throw unexpected();
            }
            String name = string();
            skipSpace();
            expect(':');
            skipSpace();
            if (members.containsKey(name)) {
                throw new MalformedException("a name stands twice in one object.");
            }
            members.put(name, value(depth - 1));
            skipSpace();
        } while (taken(','));
        expect('}');
        return Collections.unmodifiableMap(members);
    }

    private List<Object> array(int depth) throws MalformedException {
        List<Object> items = new ArrayList<>();
        at++;
        skipSpace();
        if (taken(']')) {
            return items;
        }
        do {
            skipSpace();
            items.add(value(depth - 1));
            skipSpace();
        } while (taken(','));
        expect(']');
        return Collections.unmodifiableList(items);
    }

    private String string() throws MalformedException {
        StringBuilder letters = new StringBuilder();
        at++;
        while (true) {
            char letter = peek();
            if (letter < ' ') {
                throw unexpected();
            }
            at++;
            if (letter == '"') {
                return letters.toString();
            }
            letters.append(letter == '\\' ? escaped() : letter);
        }
    }

    private char escaped() throws MalformedException {
        char letter = peek();
        at++;
        return switch (letter) {
            case '"', '\\', '/' -> letter;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> codeUnit();
            default -> {
                at--;
                throw unexpected();
            }
        };
    }

    private char codeUnit() throws MalformedException {
        int unit = 0;
        for (int digit = 0; digit < 4; digit++) {
            char letter = peek();
            int value = letter < 128 ? Character.digit(letter, 16) : -1;
            if (value < 0) {
                throw unexpected();
            }
            unit = unit * 16 + value;
            at++;
        }
        return (char) unit;
    }

    private BigDecimal number() throws MalformedException {
        Matcher digits = NUMBER.matcher(text).region(at, text.length());
        if (!digits.lookingAt()) {
            throw unexpected();
        }
        if (digits.end() - at > LONGEST_NUMBER) {
            throw new MalformedException("a number is too long.");
        }
        at = digits.end();
        try {
            return new BigDecimal(digits.group());
        } catch (NumberFormatException error) {
            throw new MalformedException("a number is too large.");
        }
    }

    private Object word(String word, Boolean value) throws MalformedException {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private void skipSpace() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean taken(char letter) {
        boolean is = at < text.length() && text.charAt(at) == letter;
        at += is ? 1 : 0;
        return is;
    }

    private void expect(char letter) throws MalformedException {
        if (!taken(letter)) {
            throw unexpected();
        }
    }

    private char peek() throws MalformedException {
        if (at >= text.length()) {
            throw new MalformedException("it ends too early.");
        }
        return text.charAt(at);
    }

    private MalformedException unexpected() {
        return new MalformedException(at < text.length()
                ? "character " + (at + 1) + " is unexpected."
                : "it ends too early.");
    }
}
