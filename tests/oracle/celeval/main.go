// Command celeval evaluates CEL expressions as the API server of Kubernetes 1.37 does.
//
// It reads an expression a line, each a JSON string, and writes a value or an error a line. To build it:
// go mod init celeval && go get k8s.io/apiserver@v0.37.2 && go build
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strconv"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

func encode(v ref.Val) any {
	switch v := v.(type) {
	case types.Null:
		return []any{"null"}
	case types.Bool:
		return []any{"bool", bool(v)}
	case types.Int:
		return []any{"int", strconv.FormatInt(int64(v), 10)}
	case types.Uint:
		return []any{"uint", strconv.FormatUint(uint64(v), 10)}
	case types.Double:
		if math.IsNaN(float64(v)) {
			return []any{"double", "nan"}
		}
		return []any{"double", fmt.Sprintf("%016x", math.Float64bits(float64(v)))}
	case types.String:
		return []any{"string", string(v)}
	case types.Bytes:
		return []any{"bytes", hex.EncodeToString([]byte(v))}
	case types.Duration:
		return []any{"duration", strconv.FormatInt(int64(v.Duration), 10)}
	case types.Timestamp:
		return []any{"timestamp", fmt.Sprintf("%d.%09d", v.Unix(), v.Nanosecond())}
	case *types.Type:
		return []any{"type", v.TypeName()}
	case *types.Optional:
		if !v.HasValue() {
			return []any{"optional"}
		}
		return []any{"optional", encode(v.GetValue())}
	case apiservercel.Quantity:
		return []any{"quantity", v.Quantity.String()}
	case *apiservercel.Quantity:
		return []any{"quantity", v.Quantity.String()}
	case apiservercel.URL:
		return []any{"url", v.URL.String()}
	case apiservercel.IP:
		return []any{"ip", v.Addr.String()}
	case apiservercel.CIDR:
		return []any{"cidr", v.Prefix.String()}
	case apiservercel.Semver:
		return []any{"semver", v.Version.String()}
	case apiservercel.Format:
		return []any{"format", v.Name}
	case traits.Lister:
		out := []any{"list"}
		for it := v.Iterator(); it.HasNext() == types.True; {
			out = append(out, encode(it.Next()))
		}
		return out
	case traits.Mapper:
		entries := []string{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			b, _ := json.Marshal([]any{encode(k), encode(v.Get(k))})
			entries = append(entries, string(b))
		}
		sort.Strings(entries)
		return []any{"map", entries}
	}
	return []any{"other", fmt.Sprintf("%T", v)}
}

func eval(env *cel.Env, expr string) any {
	ast, issues := env.Compile(expr)
	if issues != nil && issues.Err() != nil {
		return []any{"compile", issues.Err().Error()}
	}
	prg, err := env.Program(ast)
	if err != nil {
		return []any{"program", err.Error()}
	}
	out, _, err := prg.Eval(map[string]any{})
	if err != nil {
		return []any{"error", err.Error()}
	}
	return encode(out)
}

func main() {
	env, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Env(environment.StoredExpressions)
	if err != nil {
		panic(err)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for in.Scan() {
		var expr string
		if err := json.Unmarshal(in.Bytes(), &expr); err != nil {
			panic(err)
		}
		if err := enc.Encode(eval(env, expr)); err != nil {
			panic(err)
		}
	}
}
