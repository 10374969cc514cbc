package trace

import (
	"regexp"
	"strings"
)

// A nameRule folds away a part of a name that is another one on each rank or in each run.
type nameRule struct {
	// sign is a text that every name has that the rule is about: it is looked for before the expression is tried.
	sign string
	find *regexp.Regexp
	by   string
	// runs: only where runs are compared, see FoldAcrossRuns.
	runs bool
	// example is a name, and folded its folded form.
	example, folded string
}

// nameRules match parts that do not belong to the name of a function: addresses of objects, ids of processes, ports
// that the system chose, names of temporary files, running numbers of steps. Which step an interval is, its raw name
// tells: see store.NameOf. Template arguments, shapes, line numbers and numbers that the author wrote stay. A name that
// is an address alone stays too: nothing else is known of the function.
var nameRules = []nameRule{
	{" at 0x", regexp.MustCompile(` at 0x[0-9a-fA-F]{4,}`), " at …", false,
		"<built-in method size of Tensor object at 0x74956e48e580>", "<built-in method size of Tensor object at …>"},
	{"@0x", regexp.MustCompile(`(\w)@0x[0-9a-fA-F]{4,}`), "${1}@…", false,
		"Worker@0x7f3a10 run", "Worker@… run"},
	{"=0x", regexp.MustCompile(`(\w)=0x[0-9a-fA-F]{8,}`), "${1}=…", false,
		"render(this=0x7f3a10c8)", "render(this=…)"},
	{"$$Lambda", regexp.MustCompile(`\$\$Lambda(?:\$\d+)?[./](?:0x)?[0-9a-fA-F]+`), "$$$$Lambda…", false,
		"App$$Lambda$14/0x0000000800c03000.run", "App$$Lambda….run"},
	{"LambdaForm$", regexp.MustCompile(`(LambdaForm\$\w+)[./]0x[0-9a-fA-F]+`), "${1}…", false,
		"java.lang.invoke.LambdaForm$MH.0x00007f3c4c001000.invoke", "java.lang.invoke.LambdaForm$MH….invoke"},
	{"MethodAccessor", regexp.MustCompile(`(Generated(?:Method|Constructor)Accessor)\d+`), "${1}…", false,
		"jdk.internal.reflect.GeneratedMethodAccessor17.invoke",
		"jdk.internal.reflect.GeneratedMethodAccessor….invoke"},
	{"-", regexp.MustCompile(
		`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "…", false,
		"load 0f8fad5b-d9cb-469f-a165-70867728950e.pt", "load ….pt"},
	{"/tmp", regexp.MustCompile(`((?:^|[^\w])/(?:\w+/)*)tmp[a-z0-9_]{6,12}(/|\b)`), "${1}tmp…${2}", false,
		"/tmp/tmpk3v0_q1z/model.py(12): forward", "/tmp/tmp…/model.py(12): forward"},
	{"ipykernel_", regexp.MustCompile(`ipykernel_\d+/\d+`), "ipykernel_…/…", false,
		"/tmp/ipykernel_4711/1234567.py(3): train", "/tmp/ipykernel_…/….py(3): train"},
	{"go-build", regexp.MustCompile(`go-build\d+`), "go-build…", false,
		"/tmp/go-build2841/b001/exe/main", "/tmp/go-build…/b001/exe/main"},
	{"/tmp/", regexp.MustCompile(`(/tmp/(?:[\w.]+-)?)(?:cc[A-Za-z0-9]{6}|[0-9a-f]{6,})(\.\w+)`), "${1}…${2}", false,
		"link /tmp/main-3f9a1c.o", "link /tmp/main-….o"},
	{":", regexp.MustCompile(
		`((?:\blocalhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-fA-F:]+\]):)(?:3[2-9]|[45]\d|6[0-5])\d{3}\b`), "${1}…", false,
		"recv 127.0.0.1:43512", "recv 127.0.0.1:…"},
	{"tep", regexp.MustCompile(`(\b(?:[Tt]ime ?)?[Ss]teps?[ #=:]+)\d+([^\w.]|$)`), "${1}…${2}", false,
		"step 12: exchange halo", "step …: exchange halo"},
	{"ter", regexp.MustCompile(`(\b[Ii]ter(?:ation)?s?[ #=:]+)\d+([^\w.]|$)`), "${1}…${2}", false,
		"solve (iteration 7)", "solve (iteration …)"},
	{"poch", regexp.MustCompile(`(\b[Ee]pochs?[ #=:]+)\d+([^\w.]|$)`), "${1}…${2}", false,
		"Epoch 3/validate", "Epoch …/validate"},
	{"ProfilerStep", regexp.MustCompile(`\b(ProfilerStep#?\s*)\d+`), "${1}…", false,
		"ProfilerStep#12", "ProfilerStep#…"},
	{"id", regexp.MustCompile(`(\b[pt]id[=:#] ?)\d+\b`), "${1}…", false,
		"worker pid=4711", "worker pid=…"},

	// address of a function without a name
	{"0x", regexp.MustCompile(`\b0x[0-9a-fA-F]+\b`), "…", true, "[0x45ab12]", "[…]"},
	// number of a step, at the end too
	{"", regexp.MustCompile(
		`(?i)((?:\b|_)(?:step|iter|iteration|epoch|batch|frame|timestep|cycle|request|task)s?[ _#:=-]*)\d+`), "${1}…",
		true, "train_step_41", "train_step_…"},
	{"#", regexp.MustCompile(`([A-Za-z_]#)\d+`), "${1}…", true, "Trainer#12", "Trainer#…"},
	// ids
	{"", regexp.MustCompile(
		`(?i)(\b(?:pid|tid|thread|process|port|worker|rank|session|conn|fd|job|handle)(?:[ _-]?id)?[ #:=]+)\d+`),
		"${1}…", true, "serve session 4711", "serve session …"},
	// hash
	{"", regexp.MustCompile(`(^|[^0-9A-Za-z])(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{6,}([^0-9A-Za-z]|$)`), "${1}…${2}",
		true, "object a1b2c3d4e5f6 loaded", "object … loaded"},
	// port that the author wrote
	{":", regexp.MustCompile(`(:)\d{4,5}\b`), "${1}…", true, "GET localhost:8080/items", "GET localhost:…/items"},
}

// FoldName returns the name of the function that a region stands for: the name without parts that differ from rank to
// rank and from run to run. O(rules × length).
func FoldName(name string) string {
	return foldName(name, false)
}

// RawName is the attribute of intervals and instants whose name in the source is not that of their region.
const RawName = "raw name"

// foldedStep is a name that lost the number of a step at its end.
var foldedStep = regexp.MustCompile(`(?i)(?:step|iter|iteration|epoch)s?[ #=:]*…$`)

// FoldedStep reports whether a region stands for all steps, whose numbers are in the raw names of its intervals.
func FoldedStep(name string) bool {
	return strings.HasSuffix(name, "…") && foldedStep.MatchString(name)
}

// Stem is a name without the number at its end, or without the mark that FoldName left in its place.
func Stem(name string) string {
	if FoldedStep(name) {
		return strings.TrimSuffix(name, "…")
	}
	return strings.TrimRight(name, "0123456789")
}

// FoldAcrossRuns returns the name under which a region of a run is compared with those of other runs: without the
// numbers of steps, ids, hashes and ports too, which distinguish regions of one run, and are others in the next.
func FoldAcrossRuns(name string, role Role) string {
	name = foldName(name, true)
	if strings.Trim(name, "[]() …") == "" && strings.Contains(name, "…") {
		return noSymbol
	}
	if role == RoleAnnotation {
		name = numberedMark.ReplaceAllString(name, "${1}…")
	}
	return name
}

// noSymbol is the name of functions of which only the address is known, which is another in the next run.
const noSymbol = "(no symbol)"

// numberedMark is an annotation with a number at its end.
var numberedMark = regexp.MustCompile(`^(.*?[^0-9])\d+$`)

func foldName(name string, runs bool) string {
	for i := range nameRules {
		if r := &nameRules[i]; (runs || !r.runs) && strings.Contains(name, r.sign) {
			name = r.find.ReplaceAllString(name, r.by)
		}
	}
	return name
}
