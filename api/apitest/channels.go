package apitest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/platform-scheduler/platform-scheduler/infrastructure/notify/notifytest"
)

// The addresses of channels and of the templates of their messages.
const (
	channels  = "/api/v1/alert-channels"
	templates = "/api/v1/alert-templates"
)

// given is a value that stands for a secret: no answer may hold it.
const given = "given-secret-value-7"

// channel is a body with a configuration as literal JSON, which may repeat no field.
func channel(kind, config string) string {
	return fmt.Sprintf(`{"name":"n","type":%q,"config":{%s}}`, kind, config)
}

// long is a JSON string of so many bytes.
func long(n int) string { return `"` + strings.Repeat("x", n) + `"` }

// addressFields are the fields that hold the address of the receiver, by type of channel.
func addressFields() map[string]string {
	examples, err := notifytest.Examples()
	if err != nil {
		panic(err)
	}
	out := map[string]string{}
	for _, e := range examples {
		for name, value := range e.Config {
			if text, ok := value.(string); ok && strings.HasPrefix(text, "{address}") {
				out[string(e.Type)] = name
			}
		}
	}
	return out
}

// wrongChannels is bad input about channels, each with what must be whole beside it.
func wrongChannels() []Case {
	out := []Case{
		wrong("113", channels, `{"name":"n"}`, "type", "unknown_value"),
		wrong("113", channels, `{"name":"n","type":"PAGER"}`, "type", "unknown_value"),
		wrong("113", channels, `{"name":"n","type":"slack"}`, "type", "unknown_value"),
		wrong("47", channels, `{"name":"n","type":7}`, "type", "wrong_type"),
		wrong("72", channels, `{"name":"n","type":"SLACK"}`, "config", "required"),
		wrong("113", channels, `{"name":"n","type":"SLACK","language":"fr"}`, "language", "unknown_value"),
		wrong("47", channels, `{"name":"n","type":"SLACK","language":["en"]}`, "language", "wrong_type"),
		wrong("47", channels, `{"name":"n","type":"SLACK","config":"https://x.example"}`, "config", ""),
		wrong("47", channels, `{"name":"n","type":"SLACK","config":[]}`, "config", ""),
		wrong("50", channels, channel("SLACK", `"webhook":`+long(33<<10)), "config", "too_long"),
		{Row: "69 nobody", Method: http.MethodPost, Path: channels + "/" + nobody + "/test", Status: 404, Code: "not_found"},
		{Row: "69", Method: http.MethodPost, Path: channels + "/a%00b/test", Status: 404},
	}
	for kind, address := range addressFields() {
		field := "config." + address
		more := map[string]string{"TELEGRAM": `,"token":"1:abcdefghijkl","chatId":"1"`}[kind]
		if kind != "TELEGRAM" { // which has a usual one
			out = append(out, wrong("72", channels, channel(kind, ""), field, "required"),
				wrong("72", channels, channel(kind, fmt.Sprintf(`%q:null`, address)), field, "required"))
		}
		for _, c := range [][2]string{
			{`7`, "invalid"},
			{`["https://x.example"]`, "invalid"},
			{`"nowhere"`, "invalid"},
			{`"ftp://x.example/` + given + `"`, "invalid"},
			{`"file:///etc/passwd"`, "invalid"},
			{`"javascript:alert(1)"`, "invalid"},
			{`"https:///` + given + `"`, "invalid"},
			{`"https://x.example:99999/` + given + `"`, "invalid"},
			{`"https://x.example:0/` + given + `"`, "invalid"},
			{`"https://x.example:port/` + given + `"`, "invalid"},
			{`"https://user:` + given + `@x.example/"`, "invalid"},
			{`"https://x.example/#` + given + `"`, "invalid"},
			{`"https://x.example/\r\nX-Injected: ` + given + `"`, "invalid"},
			{`"https://x.example/\u0000"`, "invalid"},
			{`"https://[::1/` + given + `"`, "invalid"},
			{`"https://x.example/` + strings.Repeat("x", 2048) + `"`, "too_long"},
		} {
			out = append(out, wrong("113", channels, channel(kind, fmt.Sprintf("%q:%s%s", address, c[0], more)), field, c[1]))
		}
	}
	for _, c := range []struct{ row, kind, config, field, code string }{
		{"77", "EMAIL", `"hosts":"a"`, "hosts", "unknown_field"},
		{"77", "WEBHOOK", `"uRL":"a"`, "uRL", "unknown_field"},
		{"77", "DINGTALK", `"url":"a"`, "url", "unknown_field"},
		{"77", "WECOM", `"secret":"` + given + `"`, "secret", "unknown_field"},
		{"77", "FEISHU", `"atMobiles":[]`, "atMobiles", "unknown_field"},
		{"77", "SLACK", `"channel":"a"`, "channel", "unknown_field"},
		{"77", "TELEGRAM", `"chat_id":"1"`, "chat_id", "unknown_field"},
		{"77", "ALERTMANAGER", `"headers":{}`, "headers", "unknown_field"},

		{"47", "WEBHOOK", `"secret":7`, "secret", "invalid"},
		{"47", "WEBHOOK", `"secrets":"` + given + `"`, "secrets", "invalid"},
		{"47", "WEBHOOK", `"secrets":[7]`, "secrets", "invalid"},
		{"47", "WEBHOOK", `"headers":["` + given + `"]`, "headers", "invalid"},
		{"47", "WEBHOOK", `"headers":{"X-Key":7}`, "headers", "invalid"},
		{"113", "WEBHOOK", `"secret":"short"`, "secret", ""},
		{"113", "WEBHOOK", `"secret":"whsec_` + given + `!"`, "secret", ""},
		{"50", "WEBHOOK", `"secret":` + long(129), "secret", ""},
		{"71", "WEBHOOK", `"secrets":["` + strings.Repeat(given+`","`, 3) + given + `"]`, "secrets", "too_many"},
		{"113", "WEBHOOK", `"headers":{"X Key":"` + given + `"}`, "headers", "invalid"},
		{"113", "WEBHOOK", `"headers":{"X-Key\r\nX-Injected":"` + given + `"}`, "headers", "invalid"},
		{"51", "WEBHOOK", `"headers":{"X-Key":"` + given + `\r\nX-Injected: 1"}`, "headers.X-Key", "invalid"},
		{"51", "WEBHOOK", `"headers":{"X-Key":"\u0000"}`, "headers.X-Key", "invalid"},
		{"50", "WEBHOOK", `"headers":{"X-Key":` + long(4097) + `}`, "headers.X-Key", "too_long"},
		{"76", "WEBHOOK", `"headers":{"Content-Length":"1"}`, "headers.Content-Length", "conflict"},
		{"76", "WEBHOOK", `"headers":{"Host":"` + given + `"}`, "headers.Host", "conflict"},

		{"47", "DINGTALK", `"secret":7`, "secret", "invalid"},
		{"50", "DINGTALK", `"secret":` + long(257), "secret", "too_long"},
		{"51", "DINGTALK", `"secret":"` + given + `\n"`, "secret", "invalid"},
		{"47", "DINGTALK", `"atMobiles":"1"`, "atMobiles", "invalid"},
		{"113", "DINGTALK", `"atMobiles":["call me"]`, "atMobiles[0]", "invalid"},
		{"71", "DINGTALK", `"atMobiles":` + list(51, "13800138000"), "atMobiles", "too_many"},
		{"47", "DINGTALK", `"atUserIds":[7]`, "atUserIds", "invalid"},
		{"51", "DINGTALK", `"atUserIds":["a\nb"]`, "atUserIds[0]", "invalid"},
		{"47", "DINGTALK", `"atAll":"yes"`, "atAll", "invalid"},

		{"47", "WECOM", `"atUserIds":{}`, "atUserIds", "invalid"},
		{"51", "WECOM", `"atUserIds":["<@all>"]`, "atUserIds[0]", "invalid"},
		{"71", "WECOM", `"atUserIds":` + list(21, "ann"), "atUserIds", "too_many"},

		{"47", "FEISHU", `"secret":[]`, "secret", "invalid"},
		{"50", "FEISHU", `"secret":` + long(257), "secret", "too_long"},
		{"51", "FEISHU", `"secret":"` + given + `\u0007"`, "secret", "invalid"},
		{"113", "FEISHU", `"atUserIds":["<at id=all>"]`, "atUserIds[0]", "invalid"},
		{"71", "FEISHU", `"atUserIds":` + list(51, "ou_1"), "atUserIds", "too_many"},
		{"47", "FEISHU", `"atAll":1`, "atAll", "invalid"},

		{"47", "SLACK", `"mentions":"here"`, "mentions", "invalid"},
		{"113", "SLACK", `"mentions":["@ann"]`, "mentions[0]", "invalid"},
		{"51", "SLACK", `"mentions":["here\n"]`, "mentions[0]", "invalid"},
		{"71", "SLACK", `"mentions":` + list(21, "here"), "mentions", "too_many"},

		{"72", "TELEGRAM", `"chatId":"1"`, "token", "required"},
		{"47", "TELEGRAM", `"token":7`, "token", "invalid"},
		{"113", "TELEGRAM", `"token":"` + given + `"`, "token", "invalid"},
		{"51", "TELEGRAM", `"token":"1:` + given + `/../x\r\n"`, "token", "invalid"},
		{"113", "TELEGRAM", `"token":"1:abcdefghijkl"`, "chatId", "invalid"},
		{"47", "TELEGRAM", `"chatId":7`, "chatId", "invalid"},
		{"113", "TELEGRAM", `"chatId":"the chat"`, "chatId", "invalid"},
		{"51", "TELEGRAM", `"chatId":"1\n"`, "chatId", "invalid"},
		{"47", "TELEGRAM", `"threadId":"1"`, "threadId", "invalid"},
		{"39", "TELEGRAM", `"threadId":1.5`, "threadId", "invalid"},
		{"40", "TELEGRAM", `"threadId":-1`, "threadId", "out_of_range"},
		{"113", "TELEGRAM", `"apiUrl":"https://x.example/?a=` + given + `"`, "apiUrl", "invalid"},

		{"113", "ALERTMANAGER", `"url":"https://x.example/?a=` + given + `"`, "url", "invalid"},
		{"72", "ALERTMANAGER", `"username":"u"`, "username", "required"},
		{"72", "ALERTMANAGER", `"password":"` + given + `"`, "username", "required"},
		{"113", "ALERTMANAGER", `"username":"a:b","password":"` + given + `"`, "username", "invalid"},
		{"51", "ALERTMANAGER", `"username":"a\nb","password":"` + given + `"`, "username", "invalid"},
		{"50", "ALERTMANAGER", `"username":"u","password":` + long(4097), "password", "too_long"},
		{"76", "ALERTMANAGER", `"username":"u","password":"p","token":"` + given + `"`, "token", "conflict"},
		{"51", "ALERTMANAGER", `"token":"` + given + `\r\nX: 1"`, "token", "invalid"},
		{"50", "ALERTMANAGER", `"token":` + long(4097), "token", "too_long"},
		{"47", "ALERTMANAGER", `"firingForSec":"1d"`, "firingForSec", "invalid"},
		{"40", "ALERTMANAGER", `"firingForSec":-1`, "firingForSec", "out_of_range"},
		{"40", "ALERTMANAGER", `"firingForSec":99999999`, "firingForSec", "out_of_range"},

		{"72", "EMAIL", ``, "host", "invalid"},
		{"47", "EMAIL", `"host":7`, "host", "invalid"},
		{"51", "EMAIL", `"host":"mail.example\r\nRCPT TO"`, "host", "invalid"},
		{"113", "EMAIL", `"host":"http://mail.example"`, "host", "invalid"},
		{"50", "EMAIL", `"host":` + long(254), "host", "invalid"},
		{"47", "EMAIL", `"port":"25"`, "port", "invalid"},
		{"39", "EMAIL", `"port":1.5`, "port", "invalid"},
		{"40", "EMAIL", `"port":-1`, "port", "out_of_range"},
		{"40", "EMAIL", `"port":65536`, "port", "out_of_range"},
		{"47", "EMAIL", `"tls":true`, "tls", "invalid"},
		{"113", "EMAIL", `"tls":"SSL"`, "tls", "unknown_value"},
		{"113", "EMAIL", `"username":"u"`, "username", "required"},
		{"113", "EMAIL", `"password":"` + given + `"`, "username", "required"},
		{"76", "EMAIL", `"tls":"NONE","username":"u","password":"` + given + `"`, "tls", "conflict"},
		{"51", "EMAIL", `"username":"a\r\nb","password":"` + given + `"`, "username", "invalid"},
		{"51", "EMAIL", `"username":"u","password":"` + given + `\n"`, "password", "invalid"},
		{"50", "EMAIL", `"username":"u","password":` + long(1025), "password", "too_long"},
		{"72", "EMAIL", `"to":["a@example.com"]`, "from", "invalid"},
		{"113", "EMAIL", `"from":"nobody"`, "from", "invalid"},
		{"51", "EMAIL", `"from":"a@example.com\r\nBcc: b@example.com"`, "from", "invalid"},
		{"72", "EMAIL", `"from":"a@example.com"`, "to", "required"},
		{"72", "EMAIL", `"to":[]`, "to", "required"},
		{"47", "EMAIL", `"to":"a@example.com"`, "to", "invalid"},
		{"113", "EMAIL", `"to":["a@example.com","b"]`, "to[1]", "invalid"},
		{"51", "EMAIL", `"to":["a@example.com\nBcc: b@example.com"]`, "to[0]", "invalid"},
		{"50", "EMAIL", `"to":["` + strings.Repeat("x", 320) + `@example.com"]`, "to[0]", "invalid"},
		{"71", "EMAIL", `"to":` + list(51, "a@example.com"), "to", "too_many"},
	} {
		out = append(out, wrong(c.row, channels, channel(c.kind, c.config), "config."+c.field, c.code))
	}
	return out
}

// list is a JSON list of so many strings.
func list(n int, item string) string {
	item = strconv.Quote(item) + ","
	return "[" + strings.TrimSuffix(strings.Repeat(item, n), ",") + "]"
}

// wrongTemplates is bad input about templates, as they are saved and as they are shown.
func wrongTemplates() []Case {
	out := []Case{
		wrong("113", templates+"/preview", `{"text":{"en":"x"},"language":"fr"}`, "language", "unknown_value"),
		wrong("49", templates+"/preview", `{"text":{"en":"x"},"language":""}`, "language", "unknown_value"),
		wrong("49", templates+"/preview", `{"text":{"en":"x"},"channelType":""}`, "channelType", "unknown_value"),
		wrong("35", templates, `{"name":"n","text":{"en":"x"},"version":-1}`, "version", "out_of_range"),
		wrong("47", templates+"/preview", `{"text":{"en":"x"},"language":1}`, "language", "wrong_type"),
		wrong("113", templates+"/preview", `{"text":{"en":"x"},"channelType":"FAX"}`, "channelType", "unknown_value"),
		wrong("47", templates+"/preview", `{"text":{"en":"x"},"channelType":{}}`, "channelType", "wrong_type"),
		wrong("77", templates+"/preview", `{"text":{"en":"x"},"name":"n"}`, "name", "unknown_field"),
		{
			Row: "82", Method: http.MethodPost, Path: templates + "/preview", Body: `{"text":`, Status: 400,
			Code: "invalid_json",
		},
		{Row: "74", Method: http.MethodPost, Path: templates + "/preview", Body: `[]`, Status: 400, Code: "not_an_object"},
	}
	for _, path := range []string{templates, templates + "/preview"} {
		name := map[string]string{templates: `"name":"n",`}[path]
		for _, form := range []string{"title", "text", "html", "markdown"} {
			for _, c := range [][3]string{
				{`"x"`, "", "wrong_type"},
				{`{"en":7}`, ".en", "wrong_type"},
				{`{"fr":"x"}`, "", "unknown_value"},
				{`{"en":"a\n{{.Nope}}"}`, ".en", "invalid"},
				{`{"zh":"{{"}`, ".zh", "invalid"},
				{`{"en":"{{env \"PATH\"}}"}`, ".en", "invalid"},
				{`{"en":"{{template \"other\"}}"}`, ".en", "invalid"},
				{`{"en":` + long(16<<10+1) + `}`, ".en", "invalid"},
			} {
				out = append(out, wrong("113", path, fmt.Sprintf(`{%s%q:%s}`, name, form, c[0]), form+c[1], c[2]))
			}
		}
		out = append(out, wrong("72", path, `{`+strings.TrimSuffix(name, ",")+`}`, "text", "required"),
			wrong("77", path, `{`+name+`"texts":{"en":"x"}}`, "texts", "unknown_field"))
	}
	return out
}
