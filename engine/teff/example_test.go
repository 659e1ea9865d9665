package teff_test

import (
	"context"
	"fmt"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// A run of a workflow of teff pauses, its answer is looked at before it is
// given, and it goes on.
func Example() {
	ctx := context.Background()
	w, err := document.Load("../../fixtures/teff/workflows/discount.graph.yaml", func(string) (string, bool) { return "", false })
	if err != nil {
		fmt.Println(err)
		return
	}
	r := teff.Runner{Workflow: w, Store: newMemory(), MaxIterations: 100}
	res, err := r.Run(ctx, "cart", nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n", res.Interrupt.Prompt)
	for _, code := range []string{"summer", "AB-1234"} {
		preview, err := r.CheckAnswer(ctx, "cart", py.NewDict(py.Entry{Key: "code", Value: code}))
		fmt.Println(preview.Verdict, preview.Next, err)
	}
	res, err = r.Run(ctx, "cart", nil, py.NewDict(py.Entry{Key: "code", Value: "AB-1234"}))
	fmt.Println(py.Str(res.State.GetOr("receipt", nil)), err)
	// Output:
	// "Promo code for cart of Lou: 48.00 (AB-1234)? "
	// refused [discount-validate transform_6] <nil>
	// accepted [discount-validate transform_4] <nil>
	// CART OF LOU: 48.00 WITH AB-1234 <nil>
}
