package placeholder

import (
	"strings"
	"unicode/utf8"
)

// xmlPlace is a place in XML. It follows the marks that begin and end its parts; whether the text is
// well formed otherwise is for its receiver to say.
type xmlPlace struct {
	in xmlPart
	// rest is the end of what was read, where it may begin a mark.
	rest string
}

type xmlPart int

const (
	xmlText xmlPart = iota
	xmlTag
	xmlDouble // an attribute in "
	xmlSingle // an attribute in '
	xmlComment
	xmlCDATA
	xmlInstruction
	xmlDoctype
	xmlDoctypeDouble
	xmlDoctypeSingle
	xmlDeclarations // the internal subset of a document type
	xmlDeclarationDouble
	xmlDeclarationSingle
	xmlDeclarationComment
	xmlDeclarationInstruction
)

// xmlMarks lead from one part to another. Of those that fit at one byte the first counts.
var xmlMarks = []struct {
	in   xmlPart
	mark string
	to   xmlPart
}{
	{xmlText, "<!--", xmlComment},
	{xmlText, "<![CDATA[", xmlCDATA},
	{xmlText, "<!", xmlDoctype},
	{xmlText, "<?", xmlInstruction},
	{xmlText, "<", xmlTag},
	{xmlTag, `"`, xmlDouble},
	{xmlTag, "'", xmlSingle},
	{xmlTag, ">", xmlText},
	{xmlDouble, `"`, xmlTag},
	{xmlSingle, "'", xmlTag},
	{xmlComment, "-->", xmlText},
	{xmlCDATA, "]]>", xmlText},
	{xmlInstruction, "?>", xmlText},
	{xmlDoctype, `"`, xmlDoctypeDouble},
	{xmlDoctype, "'", xmlDoctypeSingle},
	{xmlDoctype, "[", xmlDeclarations},
	{xmlDoctype, ">", xmlText},
	{xmlDoctypeDouble, `"`, xmlDoctype},
	{xmlDoctypeSingle, "'", xmlDoctype},
	{xmlDeclarations, "<!--", xmlDeclarationComment},
	{xmlDeclarations, "<?", xmlDeclarationInstruction},
	{xmlDeclarations, `"`, xmlDeclarationDouble},
	{xmlDeclarations, "'", xmlDeclarationSingle},
	{xmlDeclarations, "]", xmlDoctype},
	{xmlDeclarationDouble, `"`, xmlDeclarations},
	{xmlDeclarationSingle, "'", xmlDeclarations},
	{xmlDeclarationComment, "-->", xmlDeclarations},
	{xmlDeclarationInstruction, "?>", xmlDeclarations},
}

func (x *xmlPlace) plain(text string) error {
	text = x.rest + text
	x.rest = ""
	for i := 0; i < len(text); {
		n := 1
		for _, m := range xmlMarks {
			if m.in != x.in {
				continue
			}
			if rest := text[i:]; len(rest) < len(m.mark) && strings.HasPrefix(m.mark, rest) {
				x.rest = rest
				return nil
			}
			if strings.HasPrefix(text[i:], m.mark) {
				x.in, n = m.to, len(m.mark)
				break
			}
		}
		i += n
	}
	return nil
}

// xmlEscapes are for text and for attributes. Line ends and tabs of an attribute would be read as
// spaces, and a carriage return of a text as a line feed.
var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;",
	"\t", "&#9;", "\n", "&#10;", "\r", "&#13;")

func (x *xmlPlace) value(v value) (string, error) {
	if !utf8.ValidString(v.text) || strings.ContainsFunc(v.text, notXML) {
		return "", wrong("the value of %s holds a character that XML cannot carry, such as a control character: leave it out",
			v.placeholder)
	}
	if x.in == xmlText && x.rest == "<" {
		x.in, x.rest = xmlTag, ""
	}
	text, err := x.fit(v)
	if err != nil {
		return "", err
	}
	return text, x.plain(text)
}

func (x *xmlPlace) fit(v value) (string, error) {
	switch {
	case strings.HasPrefix(x.rest, "<!"):
	case x.in == xmlText || x.in == xmlDouble || x.in == xmlSingle:
		return xmlEscapes.Replace(v.text), nil
	case x.in == xmlCDATA && v.text == "" && x.rest != "":
		return anew, nil // what stands before and behind it must not meet
	case x.in == xmlCDATA:
		return cdata(v.text), nil
	case x.in == xmlComment:
		if strings.HasPrefix(v.text, "-") || strings.HasPrefix(v.text, ">") || strings.HasSuffix(v.text, "-") ||
			strings.Contains(v.text, "--") {
			return "", wrong("the value of %s would end the comment of XML in which it stands: put it elsewhere", v.placeholder)
		}
		return v.text, nil
	case x.in == xmlTag || x.in == xmlInstruction:
		if v.text != "" && !strings.ContainsFunc(v.text, notName) {
			return v.text, nil
		}
		return "", wrong("the value of %s is no name, and in a tag of XML it may be one alone: put the placeholder between "+
			"quotes, or between tags", v.placeholder)
	}
	return "", wrong("%s stands where XML takes no value: put it between tags, or in quotes as an attribute",
		v.placeholder)
}

// anew ends a section of CDATA and begins another one.
const anew = "]]><![CDATA["

// cdata keeps a text inside its section. No ] of the text meets a > that follows it, because a new
// section begins between them.
func cdata(text string) string {
	text = strings.ReplaceAll(text, ">", anew+">")
	if strings.HasSuffix(text, "]") {
		text += anew
	}
	return text
}

// notXML are the characters that XML 1.0 does not have (Char of its grammar).
func notXML(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r >= 0xFFFE && r <= 0xFFFF
}

// notName are the characters that do not stand in plain names. Others of XML 1.0 are not offered.
func notName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.:", r)
}

func (x *xmlPlace) end(string) error { return nil }
