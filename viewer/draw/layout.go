package draw

import "slices"

// layers puts the nodes into rows, so that edges lead down where they can: a
// node stands below all that lead to it, but for those that lead back.
func layers(g Graph) [][]string {
	back, known := backEdges(g), g.ids()
	next, open := map[string][]string{}, map[string]int{}
	for i, e := range g.Edges {
		if !back[i] && known[e.To] && known[e.From] {
			next[e.From] = append(next[e.From], e.To)
			open[e.To]++
		}
	}
	rank := map[string]int{}
	var todo []string
	for _, n := range g.Nodes {
		if open[n.ID] == 0 {
			todo = append(todo, n.ID)
		}
	}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		for _, to := range next[id] {
			rank[to] = max(rank[to], rank[id]+1)
			if open[to]--; open[to] == 0 {
				todo = append(todo, to)
			}
		}
	}
	var rows [][]string
	for _, n := range g.Nodes {
		for rank[n.ID] >= len(rows) {
			rows = append(rows, nil)
		}
		rows[rank[n.ID]] = append(rows[rank[n.ID]], n.ID)
	}
	return rows
}

// backEdges are the edges that close a cycle when the graph is walked from its
// entry and then from what is left, in the order of the file.
func backEdges(g Graph) map[int]bool {
	out := map[string][]int{}
	for i, e := range g.Edges {
		out[e.From] = append(out[e.From], i)
	}
	const onPath, left = 1, 2
	state, back := map[string]int{}, map[int]bool{}
	type visit struct {
		id   string
		edge int // of out[id], the next one
	}
	walk := func(start string) {
		if state[start] != 0 {
			return
		}
		state[start] = onPath
		path := []visit{{id: start}}
		for len(path) > 0 {
			v := &path[len(path)-1]
			if v.edge == len(out[v.id]) {
				state[v.id] = left
				path = path[:len(path)-1]
				continue
			}
			i := out[v.id][v.edge]
			v.edge++
			switch to := g.Edges[i].To; state[to] {
			case onPath:
				back[i] = true
			case 0:
				state[to] = onPath
				path = append(path, visit{id: to})
			}
		}
	}
	walk(g.Entry)
	for _, n := range g.Nodes {
		walk(n.ID)
	}
	return back
}

// closed is the graph with a node for each name that edges lead to and that is
// no step, such as STOP.
func closed(g Graph) Graph {
	known := g.ids()
	g.Nodes = slices.Clone(g.Nodes)
	for _, e := range g.Edges {
		for _, end := range []string{e.From, e.To} {
			if !known[end] {
				known[end] = true
				g.Nodes = append(g.Nodes, Node{ID: end})
			}
		}
	}
	return g
}
