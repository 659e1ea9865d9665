package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/model"
)

var script = []model.Message{
	{ToolCalls: []model.ToolCall{{ID: "1", Name: "search", Args: json.RawMessage(`{"q":"seats"}`)}}},
	{Content: "two seats"},
}

func TestScriptedFollowsTheConversation(t *testing.T) {
	m := model.NewScripted(script...)
	history := []model.Message{{Role: model.User, Content: "find seats"}}
	for i := range script {
		first, err := m.Complete(t.Context(), model.Request{Messages: history})
		if err != nil {
			t.Fatal(err)
		}
		again, err := model.NewScripted(script...).Complete(t.Context(), model.Request{Messages: history}) // after a crash
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Errorf("answer %d: got %+v, then %+v, %v", i, first, again, err)
		}
		if first.Message.Role != model.Assistant {
			t.Errorf("role %q", first.Message.Role)
		}
		history = append(history, first.Message, model.Message{Role: model.ToolRole, Content: "ok", ToolCallID: "1"})
	}
	_, err := m.Complete(t.Context(), model.Request{Messages: history})
	if !errors.Is(err, model.ErrRejected) || !strings.Contains(err.Error(), "answer 3 was asked for, the script has 2") {
		t.Errorf("at the end: got %v", err)
	}
}

func TestScriptedEndsInAnError(t *testing.T) {
	whole := model.NewScripted(script[0])
	m := whole.ThenError(model.ErrUnavailable)
	if _, err := m.Complete(t.Context(), model.Request{}); err != nil {
		t.Error(err)
	}
	history := model.Request{Messages: []model.Message{{Role: model.Assistant}}}
	for range 2 { // stable, as answers are
		if _, err := m.Complete(t.Context(), history); !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := whole.Complete(t.Context(), history); !errors.Is(err, model.ErrRejected) {
		t.Errorf("the script without the error: got %v", err)
	}
}

func TestScriptedCallsGetIDsAndArguments(t *testing.T) {
	given := model.Message{ToolCalls: []model.ToolCall{{Name: "a"}, {Name: "b", ID: "x", Args: json.RawMessage(`{"n":1}`)}}}
	got, err := model.NewScripted(given).Complete(t.Context(), model.Request{})
	want := []model.ToolCall{{ID: "call_1", Name: "a", Args: json.RawMessage("{}")}, {ID: "x", Name: "b", Args: json.RawMessage(`{"n":1}`)}}
	if err != nil || !reflect.DeepEqual(got.Message.ToolCalls, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if given.ToolCalls[0].ID != "" {
		t.Error("the caller's message was changed")
	}
}

func TestUsageIsLeftOutWhenUnknown(t *testing.T) {
	for want, r := range map[string]model.Reply{
		`{"message":{"role":"","content":""}}`:                      {},
		`{"message":{"role":"","content":""},"usage":{"output":7}}`: {Usage: model.Usage{Output: 7}},
	} {
		if got, err := json.Marshal(r); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
	}
}

func TestScriptedIsNotChangedByItsCaller(t *testing.T) {
	m := model.NewScripted(script...)
	a, _ := m.Complete(t.Context(), model.Request{})
	a.Message.ToolCalls[0].Name = "changed"
	if b, _ := m.Complete(t.Context(), model.Request{}); b.Message.ToolCalls[0].Name != "search" {
		t.Error("the script was changed")
	}
}

func TestScriptedHonoursCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.NewScripted(script...).Complete(ctx, model.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestMessagesAreJSON(t *testing.T) {
	data, err := json.Marshal(script)
	want := `[{"role":"","content":"","tool_calls":[{"id":"1","name":"search","args":{"q":"seats"}}]},{"role":"","content":"two seats"}]`
	if err != nil || string(data) != want {
		t.Errorf("got %s, %v", data, err)
	}
	var back []model.Message
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, script) {
		t.Errorf("got %+v, %v", back, err)
	}
}
