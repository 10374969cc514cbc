package trace

import "strings"

// pythonRole returns the role of a function of Python, by any of the ways in which
// profilers name one:
//
//	threading.py(359): wait             PyTorch
//	<built-in method acquire of _thread.lock object at 0x7f>
//	$threading.py:359 wait              JAX
//	wait (threading.py:359)             py-spy and kin
//
// All else is compute. The name comes in lower case.
func pythonRole(name string) Role {
	function, of := pythonFunction(name)
	if function == "" {
		return RoleCompute
	}
	for _, r := range pythonRoles {
		if r.function == function && strings.HasPrefix(of, r.of) {
			return r.role
		}
	}
	return RoleCompute
}

// pythonFunction takes a name apart: the function, and its owner: the file without its folders or the type of the
// object. Both are empty if it is no name of Python's.
func pythonFunction(name string) (function, of string) {
	if rest, ok := strings.CutPrefix(name, "<built-in "); ok {
		rest = strings.TrimSuffix(rest, ">")
		if f, ok := strings.CutPrefix(rest, "function "); ok {
			return f, ""
		}
		if m, ok := strings.CutPrefix(rest, "method "); ok {
			function, of, _ = strings.Cut(m, " of ")
			return function, of
		}
		return "", ""
	}
	if rest, ok := strings.CutPrefix(name, "$"); ok {
		of, function, ok = strings.Cut(rest, " ")
		if !ok {
			return "", ""
		}
		of, _, _ = strings.Cut(of, ":")
		return function, fileName(of)
	}
	if i := strings.Index(name, ".py("); i > 0 {
		if at := strings.Index(name[i:], "): "); at > 0 {
			return name[i+at+3:], fileName(name[:i+3])
		}
	}
	if i := strings.Index(name, " ("); i > 0 && strings.HasSuffix(name, ")") && strings.Contains(name[i:], ".py") {
		of, _, _ = strings.Cut(name[i+2:len(name)-1], ":")
		return name[:i], fileName(of)
	}
	return "", ""
}

func fileName(path string) string { return path[strings.LastIndexAny(path, "/\\")+1:] }

// pythonRoles are functions that wait or move data. An empty of means wherever it is.
var pythonRoles = []struct {
	function, of string
	role         Role
}{
	{"sleep", "", RoleIdle},
	{"wait", "threading.py", RoleSynchronization},
	{"join", "threading.py", RoleSynchronization},
	{"_wait_for_tstate_lock", "threading.py", RoleSynchronization},
	{"acquire", "", RoleSynchronization},
	{"wait", "connection.py", RoleSynchronization}, // multiprocessing's
	{"join", "process.py", RoleSynchronization},
	{"wait", "_base.py", RoleSynchronization}, // concurrent.futures
	{"synchronize", "", RoleSynchronization},
	{"_cuda_synchronize", "", RoleSynchronization},
	{"select", "selectors.py", RoleIdle},
	{"select", "select.", RoleIdle}, // not that of a tensor
	{"poll", "select.", RoleIdle},
	{"read", "_io.", RoleIO},
	{"readinto", "_io.", RoleIO},
	{"readline", "_io.", RoleIO},
	{"write", "_io.", RoleIO},
	{"flush", "_io.", RoleIO},
	{"open", "_io.", RoleIO},
	{"close", "_io.", RoleIO},
}
