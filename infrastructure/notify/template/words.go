package template

import (
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed texts
var texts embed.FS

// English is the language of texts where none, or an unknown one, is asked for.
const English = "en"

// Languages lists the languages of texts.
func Languages() []string { return []string{English, "zh"} }

// words are the words of one language.
type words struct {
	Types  map[string]string `json:"types"`
	Levels map[string]string `json:"levels"`
	Words  map[string]string `json:"words"`
	// Sentences are what alerts say, by name; English has none, as the server's own are English.
	Sentences map[string]string `json:"sentences"`
}

func readWords(language string) (words, error) {
	text, err := texts.ReadFile("texts/" + language + ".json")
	if err != nil {
		return words{}, fmt.Errorf("read the words of %s: %w", language, err)
	}
	var w words
	if err := json.Unmarshal(text, &w); err != nil {
		return words{}, fmt.Errorf("read the words of %s: %w", language, err)
	}
	return w, nil
}

// kind names a type of alert; one without a name stays as it is.
func (w words) kind(t string) string { return known(w.Types, t) }

func (w words) level(l string) string { return known(w.Levels, l) }

func (w words) word(key string) string { return known(w.Words, key) }

func known(names map[string]string, key string) string {
	if text, ok := names[key]; ok {
		return text
	}
	return key
}
