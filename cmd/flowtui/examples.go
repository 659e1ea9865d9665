package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are command lines that help shows, by the command; "" is the program.
var examples = map[string]string{
	"": `flowtui demo
flowtui runs.db --key-file prod.key --flows flows
flowtui ls runs.db --tab needs-you`,
	"ls": `flowtui ls runs.db --key-file prod.key
flowtui ls prod --owner '*' --tab needs-you
flowtui ls runs.db --query 'is:failed flow:tickets' --json`,
	"show": `flowtui show runs.db order-7 --key-file prod.key
flowtui show runs.db order-7 --json`,
	"state": `flowtui state runs.db order-7
flowtui state runs.db order-7 --step 3 --reveal`,
	"calls": `flowtui calls runs.db order-7 --key-file prod.key
flowtui calls runs.db order-7 --json`,
	"events": `flowtui events runs.db order-7
flowtui events runs.db order-7 --follow --json`,
	"verify": `flowtui verify runs.db --key-file prod.key
flowtui verify runs.db order-7 --key-file prod.key
flowtui verify runs.db --forget-seen --key-file prod.key`,
	"plan": `flowtui plan runs.db order-7 --key-file prod.key
flowtui plan runs.db order-7 --key-file prod.key --json`,
	"approve": `flowtui approve runs.db order-7 --key-file prod.key --flows flows
flowtui approve runs.db order-7 --key-file prod.key --approval pay.1 --note 'Ann agreed' --no-run --yes`,
	"deny": `flowtui deny runs.db order-7 --key-file prod.key --flows flows --note 'too dear'
flowtui deny runs.db order-7 --key-file prod.key --approval pay.1 --no-run --yes`,
	"answer": `flowtui answer runs.db order-7 --key-file prod.key --flows flows --value yes
flowtui answer runs.db order-7 --key-file prod.key --flows flows --interrupt seats --json-value 2 --yes
flowtui answer runs.db order-7 --key-file prod.key --value yes --no-run`,
	"resolve": `flowtui resolve runs.db order-7 send.1 --key-file prod.key --not-run
flowtui resolve runs.db order-7 send.1 --key-file prod.key --result '"sent"' --note 'it is in the outbox'`,
	"recover": `flowtui recover runs.db order-7 --key-file prod.key --flows flows
flowtui recover runs.db order-7 --key-file prod.key --flows flows --takeover
flowtui recover files/ onboarding-3 --flow onboarding.graph.yaml`,
	"recover-all": `flowtui recover-all runs.db --key-file prod.key --flows flows
flowtui recover-all runs.db --key-file prod.key --flows flows --owner '*' --yes --json`,
	"run": `flowtui run runs.db flows/tickets.yaml --key-file prod.key --id order-7
flowtui run runs.db tickets --flows flows --key-file prod.key --state '{"seats": 2}' --yes
flowtui run runs.db tickets --flows flows --key-file prod.key --state @order.json --yes --json`,
	"chat": `flowtui chat runs.db helpdesk --flows flows --key-file prod.key --id chat-1
flowtui chat runs.db helpdesk --flows flows --key-file prod.key --id chat-1 --message 'Where do I sit?' --yes --json`,
	"worker": `flowtui worker runs.db --key-file prod.key --flows flows
flowtui worker runs.db --key-file prod.key --flows flows --owner '*' --concurrency 8 --json
flowtui worker runs.db --key-file prod.key --flows flows --once`,
	"doctor": `flowtui doctor runs.db --key-file prod.key --flows flows
flowtui doctor 'postgres://ops@db.example/app?schema=flowtui' --key-file prod.key --json`,
	"export": `flowtui export runs.db order-7 -o order-7.bundle --key-file prod.key
flowtui export runs.db --query is:failed -o failed.bundle --note 'for the review' --key-file prod.key`,
	"import": `flowtui import other.db order-7.bundle --key-file prod.key --dry-run
flowtui import other.db order-7.bundle --key-file prod.key --note 'moved to the new host'`,
	"lint": `flowtui lint flows/tickets.yaml
flowtui lint flows/tickets.yaml onboarding.graph.yaml --json`,
	"graph": `flowtui graph flows/tickets.yaml
flowtui graph --format svg flows/tickets.yaml > tickets.svg`,
	"delete": `flowtui delete runs.db order-7 order-8 --key-file prod.key
flowtui delete runs.db - --key-file prod.key --dry-run < ids.txt`,
	"prune": `flowtui prune runs.db --older-than 90d --key-file prod.key --dry-run
flowtui prune runs.db --keep-last 1000 --query flow:tickets --key-file prod.key --yes`,
	"demo": `flowtui demo
flowtui demo --dir demo --no-open`,
}

// addExamples gives each command its examples.
func addExamples(root *cobra.Command) {
	root.Example = indentedBy("  ", examples[""])
	for _, cmd := range root.Commands() {
		cmd.Example = indentedBy("  ", examples[cmd.Name()])
	}
}

func indentedBy(space, text string) string {
	if text == "" {
		return ""
	}
	return space + strings.ReplaceAll(text, "\n", "\n"+space)
}
