package calc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/teff/py"
)

func get(v py.Value, keys ...string) py.Value {
	for _, k := range keys {
		v, _ = v.(*py.Dict).Get(k)
	}
	return v
}

func TestRecordedCalculations(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "fixtures", "teff", "engine_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := py.Loads(data)
	if err != nil {
		t.Fatal(err)
	}
	cases := get(all, "sections", "calculator").(*py.List).Items
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		expression := get(c, "expression").(string)
		got, err := Eval(expression)
		if want := get(c, "error"); want != nil {
			e, ok := err.(*py.Error)
			if !ok || e.Type != get(want, "type") || e.Message != get(want, "message") {
				t.Errorf("%s: %q %v, want %v", expression, got, err, py.Repr(want))
			}
			continue
		}
		if err != nil || got != get(c, "result") {
			t.Errorf("%s: %q %v, want %v", expression, got, err, get(c, "result"))
		}
	}
}

// What Python 3.11 answers, asked there.
func TestArithmetic(t *testing.T) {
	for expression, want := range map[string]string{
		"-0.0//1": "-0.0", "0/-5": "-0.0", "0.0%-1": "-0.0", "5.0%-3": "-1.0", "-7//-2.0": "3.0", "1e308*10": "inf",
		"1e308//1e-308": "inf", "2**0.5": "1.4142135623730951", "1.1**10": "2.5937424601000023", "2**-1": "0.5",
		"(-2)**-3": "-0.125", "10**22/10**5": "1e+17", "9007199254740993*1.0": "9007199254740992.0", "(10**400)//10**399": "10",
		"True+True": "2", "-True": "-1", "1.5//True": "1.0", "'ab'*-1": "", "b'a'*2": "b'aa'", "'a' \"b\"": "ab", "u'\\x41\\n'": "A\n",
		"-1j": "(-0-1j)", "1+0j": "(1+0j)", "1e22+1j": "(1e+22+1j)", "1j**2": "(-1+0j)", "(-8)**(1/3)": "(1.0000000000000002+1.7320508075688772j)",
		"1j**1j": "(0.20787957635076193+0j)", "(1+2j)/(3-4j)": "(-0.2+0.4j)", "(1+2j)**0.3": "(1.20347184258505+0.41510495154563903j)",
		"0_0": "0", "09.5": "9.5", "0X1f": "31", "None": "None", "1 + \\\n2": "3", "(1 # one\n+2)": "3", " \n1": "1",
	} {
		got, err := Eval(expression)
		if got != want || err != nil {
			t.Errorf("%s: %s %v, want %s", expression, got, err, want)
		}
	}
}

func classOf(err error) string {
	if e, ok := err.(*py.Error); ok {
		return e.Type
	}
	return ""
}

func TestExpressionsThatFail(t *testing.T) {
	const where = " (<unknown>, line 1)"
	for expression, want := range map[string]string{
		"5%0": "ZeroDivisionError: integer modulo by zero", "5.0%0": "ZeroDivisionError: float modulo",
		"5.0//0": "ZeroDivisionError: float floor division by zero", "5.0/0": "ZeroDivisionError: float division by zero",
		"1j/0": "ZeroDivisionError: complex division by zero", "0j**-1": "ZeroDivisionError: 0.0 to a negative or complex power",
		"2.0**10000":     "OverflowError: (34, 'Numerical result out of range')",
		"10**400*1.0":    "OverflowError: int too large to convert to float",
		"10**400/3":      "OverflowError: integer division result too large for a float",
		"'a'+1":          `TypeError: can only concatenate str (not "int") to str`,
		"1+'a'":          "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
		"'a'**2":         "TypeError: unsupported operand type(s) for ** or pow(): 'str' and 'int'",
		"'a'*1.5":        "TypeError: can't multiply sequence by non-int of type 'float'",
		"-'a'":           "TypeError: bad operand type for unary -: 'str'",
		"'a'*10**20":     "OverflowError: cannot fit 'int' into an index-sized integer",
		"1j//1":          "TypeError: unsupported operand type(s) for //: 'complex' and 'int'",
		"2^3":            "KeyError: <class 'ast.BitXor'>",
		"x*2":            "ValueError: unsupported: Name(id='x', ctx=Load())",
		"12,5 - 1":       "ValueError: unsupported: Tuple(elts=[Constant(value=12), BinOp(left=Constant(value=5), op=Sub(), right=Constant(value=1))], ctx=Load())",
		"f(a, *b, k=1)":  "ValueError: unsupported: Call(func=Name(id='f', ctx=Load()), args=[Name(id='a', ctx=Load()), Starred(value=Name(id='b', ctx=Load()), ctx=Load())], keywords=[keyword(arg='k', value=Constant(value=1))])",
		"a.b[1:2]":       "ValueError: unsupported: Subscript(value=Attribute(value=Name(id='a', ctx=Load()), attr='b', ctx=Load()), slice=Slice(lower=Constant(value=1), upper=Constant(value=2)), ctx=Load())",
		"1 < 2 not in 3": "ValueError: unsupported: Compare(left=Constant(value=1), ops=[Lt(), NotIn()], comparators=[Constant(value=2), Constant(value=3)])",
		"{1: 2, **a}":    "ValueError: unsupported: Dict(keys=[Constant(value=1), None], values=[Constant(value=2), Name(id='a', ctx=Load())])",
		"(1":             "SyntaxError: '(' was never closed" + where,
		"1)":             "SyntaxError: unmatched ')'" + where,
		"(1]":            "SyntaxError: closing parenthesis ']' does not match opening parenthesis '('" + where,
		"5€":             "SyntaxError: invalid decimal literal" + where,
		"€5":             "SyntaxError: invalid character '€' (U+20AC)" + where,
		"10k":            "SyntaxError: invalid decimal literal" + where,
		"4 apples - 1":   "SyntaxError: invalid syntax" + where,
		"(1 2)":          "SyntaxError: invalid syntax. Perhaps you forgot a comma?" + where,
		"1 if 2":         "SyntaxError: expected 'else' after 'if' expression" + where,
		"'a":             "SyntaxError: unterminated string literal (detected at line 1)" + where,
		"1\n2":           "SyntaxError: invalid syntax (<unknown>, line 2)",
		"\x00":           "SyntaxError: source code string cannot contain null bytes",
		"\t- 1":          "IndentationError: unexpected indent" + where,
	} {
		got, err := Eval(expression)
		if err == nil || err.Error() != want {
			t.Errorf("%s: %s %v\nwant %s", expression, got, err, want)
		}
	}
}

func TestHostileExpressionsEnd(t *testing.T) {
	for expression, want := range map[string]string{
		"9**9**9": "MemoryError", "10**5000": "ValueError", "'a'*999999999": "MemoryError", "f'{1}'": "NotImplementedError", "'%d' % 1": "NotImplementedError", "[x for x in y]": "NotImplementedError",
		"lambda x: 1": "NotImplementedError", "lambda": "SyntaxError",
		strings.Repeat("(", 150) + strings.Repeat(")", 150): "ValueError", strings.Repeat("(", 300): "SyntaxError",
		strings.Repeat("-", 5000) + "1": "NotImplementedError", "1" + strings.Repeat("+1", 5000): "NotImplementedError",
		strings.Repeat("9", 5000): "SyntaxError", "2" + strings.Repeat("**2", 5000): "NotImplementedError",
	} {
		got, err := Eval(expression)
		if classOf(err) != want {
			t.Errorf("%.20s: %.20s %v, want %s", expression, got, err, want)
		}
	}
	if got, err := Eval("-(1-10**4299)"); err != nil || len(got) != 4299 {
		t.Errorf("%d digits, %v", len(got), err)
	}
}

func FuzzEval(f *testing.F) {
	for _, s := range []string{"-(1+2j)**0.5//3", "f(a,*b)[1:2,].c if {1:2} else {3}", "0x_1f 'a' b'\\x41' \\\n#", "lambda x=1,*y: not 1 is not 2", "'''\\u00e9\\777"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if _, err := Eval(expression); err != nil && classOf(err) == "" {
			t.Fatalf("not Python's error: %v", err)
		}
	})
}
