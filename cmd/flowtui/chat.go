package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newChatCommand(a *app) *cobra.Command {
	var id, message, question string
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "chat STORE FLOWFILE --id RUN",
		Short: "Talk with a flow that is a conversation",
		Long: `Talk with a flow that is a conversation, one turn a message. RUN is the session: one that
does not exist is started, one that asks something takes the message as the answer.
Without --message each line of stdin is a message, until it ends. It answers what was
shown before it, and is refused when something else is asked by then. An answer that
the question says would not pass is refused, and nothing is sent; --unchecked sends it
all the same. A STORE that is not there is made as by run.`,
		Args: arguments("STORE", "FLOWFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if id == "" {
				return usagef("name the session with --id")
			}
			c := chat{app: a, id: id, question: question, unchecked: unchecked}
			if !cmd.Flags().Changed("message") {
				return c.talk(cmd.Context(), args, c.lines)
			}
			return c.talk(cmd.Context(), args, func(ctx context.Context, s *session, f *flowfile.File) error {
				_, err := c.say(ctx, s, f, message, stand{question: question})
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&id, "id", "", "id of the `RUN`, which is the session")
	f.StringVar(&message, "message", "", "one message, as `TEXT`")
	f.StringVar(&question, "interrupt", "", "`KEY` of the question that the (first) message answers, or its question in --json: refused when it is not asked any more")
	f.BoolVar(&unchecked, "unchecked", false, "send an answer also when the question says that it would not pass")
	return cmd
}

// chat is one session at the command line.
type chat struct {
	*app
	id, question string
	unchecked    bool
}

// talk opens the store and the flow, asks once, and hands over.
func (c chat) talk(ctx context.Context, args []string, use func(context.Context, *session, *flowfile.File) error) error {
	if err := c.mayAskAfter("add --yes to talk"); err != nil {
		return ofRun(err, c.id)
	}
	targets, err := c.targets(args[:1])
	if err != nil {
		return err
	}
	if err := creatable(targets[0].location); err != nil {
		return err
	}
	if err := c.takePipe(ctx, args[1]); err != nil {
		return err
	}
	if len(c.global.flow) == 0 {
		c.global.flow = args[1:2] // of a run of teff's, whose workflow is read when the store is known
	}
	s, err := c.attachTargets(ctx, true, targets)
	if err != nil {
		return err
	}
	defer s.Close()
	file := &flowfile.File{Name: args[1]}
	if !s.Stores()[0].Foreign {
		if file, err = c.flowFile(targets, args[1]); err != nil {
			return err
		}
	}
	if s.owner == stores.AnyOwner {
		return usagef("a session has one owner, not --owner %s", s.owner)
	}
	if err := c.confirmIn(ctx, s, targets[0], s.Find(c.id, s.owner), fmt.Sprintf("talk with %s as %s in %s", file.Name, c.id, s.shown(args[0])), c.id); err != nil {
		return err
	}
	return use(ctx, s, file)
}

// stand is what was shown of a session before a message.
type stand struct {
	question string // that the message answers, "" for whatever is asked
	none     bool   // there was no session
	stuck    bool   // no message brings it on: it waits for several things, or for an approval
}

func standOf(r viewer.Reply) stand {
	return stand{question: r.Question, stuck: r.Waiting && r.Question == ""}
}

// say sends one message and prints what it came to.
func (c chat) say(ctx context.Context, s *session, f *flowfile.File, message string, at stand) (stand, error) {
	if at.stuck {
		return at, viewer.Problem{Code: "conflict", Run: c.id, Message: "it waits for several things, or for an approval: the message was not sent", Hint: "name the question with --interrupt, and see flowtui approve"}
	}
	ref := s.Find(c.id, s.owner)
	r, err := s.Turn(ctx, viewer.TurnRequest{Owner: s.owner, Run: c.id, Message: message, Question: at.question, New: at.none, Unchecked: c.unchecked, Flow: f.Flow, Tools: f.Tools})
	if err != nil {
		if p := s.Explain(err); p.Code == "needs-decision" {
			return at, c.undecided(ctx, s, ref, p)
		}
		return at, c.stopped(ctx, s, ref, err)
	}
	at = standOf(r)
	if err := c.result(r, func(w io.Writer) { replyText(w, r) }); err != nil {
		return at, err
	}
	if r.Failed != "" {
		return at, viewer.Problem{Code: "failed", Run: r.Run, Message: r.Failed, Hint: "the next message starts another turn"}
	}
	return at, nil
}

// replyText is a turn for people: the reply, or what is asked.
func replyText(w io.Writer, r viewer.Reply) {
	switch {
	case r.Waiting && r.Key != "" && len(r.Open) == 1:
		fmt.Fprintln(w, r.Prompt)
		if len(r.Choices) > 0 {
			fmt.Fprintf(w, "  choices: %s\n", strings.Join(r.Choices, ", "))
		} else if r.Want != "" {
			fmt.Fprintf(w, "  passes: %s\n", oneLine(r.Want))
		}
	case r.Waiting:
		waitingLines(w, r.Open)
	case r.Reply != "":
		fmt.Fprintln(w, r.Reply)
	}
}

// lines sends each line of stdin. On a terminal a turn that fails is told, and
// the next line is read; a script ends with it. A line answers what was shown
// before it: where something else is asked by then, that is shown, and it is not sent.
func (c chat) lines(ctx context.Context, s *session, f *flowfile.File) error {
	at := c.look(ctx, s)
	if c.question != "" {
		at = stand{question: c.question}
	}
	in := make(chan string)
	failed := make(chan error, 1)
	go func() {
		defer close(in)
		lines := bufio.NewScanner(c.stdin)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			select {
			case in <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- lines.Err()
	}()
	terminal := isTerminal(c.stdin)
	for {
		if terminal {
			fmt.Fprint(textWriter{c.stderr}, "> ")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case line, more := <-in:
			if !more {
				return <-failed
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			var err error
			if at, err = c.say(ctx, s, f, line, at); err == nil {
				continue
			}
			if !terminal || ctx.Err() != nil {
				return err
			}
			p := s.Explain(err)
			if c.report(p); p.Code == "conflict" || p.Overridable && !c.global.json {
				at = c.look(ctx, s) // and ask again
			}
		}
	}
}

// maxLine is how long a message on stdin may be.
const maxLine = 1 << 20

// look shows where a session stands. With --json nothing is shown: what the
// first message answers was printed by whoever sent the one before.
func (c chat) look(ctx context.Context, s *session) stand {
	r, err := s.Standing(ctx, s.Find(c.id, s.owner))
	switch {
	case err != nil:
		return stand{none: s.Explain(err).Code == "not-found"} // else the first message says what is wrong
	case c.global.json:
		return stand{}
	}
	replyText(c.text(), r)
	return standOf(r)
}
