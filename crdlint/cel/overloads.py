"""Every overload that rules can call, and the minor that brought it."""

from __future__ import annotations

# A line: function, id of the overload, what it takes (a receiver stands before the dot), what it
# gives, and the minors whose expressions may use it where not all may. The order is cel-go's: the
# first overload that fits decides a type parameter. Source: the function declarations of the
# environments in k8s.io/apiserver/pkg/cel/environment.
OVERLOADS = """\
!_ logical_not (bool) bool
-_ negate_double (double) double
-_ negate_int64 (int) int
@in in_list (A,list(A)) bool
@in in_map (A,map(A,B)) bool
@not_strictly_false not_strictly_false (bool) bool
_!=_ not_equals (A,A) bool
_%_ modulo_int64 (int,int) int
_%_ modulo_uint64 (uint,uint) uint
_&&_ logical_and (bool,bool) bool
_*_ multiply_double (double,double) double
_*_ multiply_int64 (int,int) int
_*_ multiply_uint64 (uint,uint) uint
_+_ add_bytes (bytes,bytes) bytes
_+_ add_double (double,double) double
_+_ add_duration_duration (duration,duration) duration
_+_ add_duration_timestamp (duration,timestamp) timestamp
_+_ add_timestamp_duration (timestamp,duration) timestamp
_+_ add_int64 (int,int) int
_+_ add_list (list(A),list(A)) list(A)
_+_ add_string (string,string) string
_+_ add_uint64 (uint,uint) uint
_-_ subtract_double (double,double) double
_-_ subtract_duration_duration (duration,duration) duration
_-_ subtract_int64 (int,int) int
_-_ subtract_timestamp_duration (timestamp,duration) timestamp
_-_ subtract_timestamp_timestamp (timestamp,timestamp) duration
_-_ subtract_uint64 (uint,uint) uint
_/_ divide_double (double,double) double
_/_ divide_int64 (int,int) int
_/_ divide_uint64 (uint,uint) uint
_<=_ less_equals_bool (bool,bool) bool
_<=_ less_equals_int64 (int,int) bool
_<=_ less_equals_int64_double (int,double) bool 28
_<=_ less_equals_int64_uint64 (int,uint) bool 28
_<=_ less_equals_uint64 (uint,uint) bool
_<=_ less_equals_uint64_double (uint,double) bool 28
_<=_ less_equals_uint64_int64 (uint,int) bool 28
_<=_ less_equals_double (double,double) bool
_<=_ less_equals_double_int64 (double,int) bool 28
_<=_ less_equals_double_uint64 (double,uint) bool 28
_<=_ less_equals_string (string,string) bool
_<=_ less_equals_bytes (bytes,bytes) bool
_<=_ less_equals_timestamp (timestamp,timestamp) bool
_<=_ less_equals_duration (duration,duration) bool
_<_ less_bool (bool,bool) bool
_<_ less_int64 (int,int) bool
_<_ less_int64_double (int,double) bool 28
_<_ less_int64_uint64 (int,uint) bool 28
_<_ less_uint64 (uint,uint) bool
_<_ less_uint64_double (uint,double) bool 28
_<_ less_uint64_int64 (uint,int) bool 28
_<_ less_double (double,double) bool
_<_ less_double_int64 (double,int) bool 28
_<_ less_double_uint64 (double,uint) bool 28
_<_ less_string (string,string) bool
_<_ less_bytes (bytes,bytes) bool
_<_ less_timestamp (timestamp,timestamp) bool
_<_ less_duration (duration,duration) bool
_==_ equals (A,A) bool
_>=_ greater_equals_bool (bool,bool) bool
_>=_ greater_equals_int64 (int,int) bool
_>=_ greater_equals_int64_double (int,double) bool 28
_>=_ greater_equals_int64_uint64 (int,uint) bool 28
_>=_ greater_equals_uint64 (uint,uint) bool
_>=_ greater_equals_uint64_double (uint,double) bool 28
_>=_ greater_equals_uint64_int64 (uint,int) bool 28
_>=_ greater_equals_double (double,double) bool
_>=_ greater_equals_double_int64 (double,int) bool 28
_>=_ greater_equals_double_uint64 (double,uint) bool 28
_>=_ greater_equals_string (string,string) bool
_>=_ greater_equals_bytes (bytes,bytes) bool
_>=_ greater_equals_timestamp (timestamp,timestamp) bool
_>=_ greater_equals_duration (duration,duration) bool
_>_ greater_bool (bool,bool) bool
_>_ greater_int64 (int,int) bool
_>_ greater_int64_double (int,double) bool 28
_>_ greater_int64_uint64 (int,uint) bool 28
_>_ greater_uint64 (uint,uint) bool
_>_ greater_uint64_double (uint,double) bool 28
_>_ greater_uint64_int64 (uint,int) bool 28
_>_ greater_double (double,double) bool
_>_ greater_double_int64 (double,int) bool 28
_>_ greater_double_uint64 (double,uint) bool 28
_>_ greater_string (string,string) bool
_>_ greater_bytes (bytes,bytes) bool
_>_ greater_timestamp (timestamp,timestamp) bool
_>_ greater_duration (duration,duration) bool
_?_:_ conditional (bool,A,A) A
_[_] index_list (list(A),int) A
_[_] index_map (map(A,B),A) B
_[_] optional_list_index_int (opt(list(V)),int) opt(V) 28
_[_] optional_map_index_value (opt(map(K,V)),K) opt(V) 28
_||_ logical_or (bool,bool) bool
bool bool_to_bool (bool) bool
bool string_to_bool (string) bool
bytes bytes_to_bytes (bytes) bytes
bytes string_to_bytes (string) bytes
charAt string_char_at_int string.(int) string
contains contains_string string.(string) bool
double double_to_double (double) double
double int64_to_double (int) double
double string_to_double (string) double
double uint64_to_double (uint) double
duration duration_to_duration (duration) duration
duration string_to_duration (string) duration
dyn to_dyn (A) dyn
endsWith ends_with_string string.(string) bool
find string_find_string string.(string) string
findAll string_find_all_string string.(string) list(string)
findAll string_find_all_string_int string.(string,int) list(string)
getDate timestamp_to_day_of_month_1_based timestamp.() int
getDate timestamp_to_day_of_month_1_based_with_tz timestamp.(string) int
getDayOfMonth timestamp_to_day_of_month timestamp.() int
getDayOfMonth timestamp_to_day_of_month_with_tz timestamp.(string) int
getDayOfWeek timestamp_to_day_of_week timestamp.() int
getDayOfWeek timestamp_to_day_of_week_with_tz timestamp.(string) int
getDayOfYear timestamp_to_day_of_year timestamp.() int
getDayOfYear timestamp_to_day_of_year_with_tz timestamp.(string) int
getEscapedPath url_get_escaped_path URL.() string
getFullYear timestamp_to_year timestamp.() int
getFullYear timestamp_to_year_with_tz timestamp.(string) int
getHost url_get_host URL.() string
getHostname url_get_hostname URL.() string
getHours timestamp_to_hours timestamp.() int
getHours timestamp_to_hours_with_tz timestamp.(string) int
getHours duration_to_hours duration.() int
getMilliseconds timestamp_to_milliseconds timestamp.() int
getMilliseconds timestamp_to_milliseconds_with_tz timestamp.(string) int
getMilliseconds duration_to_milliseconds duration.() int
getMinutes timestamp_to_minutes timestamp.() int
getMinutes timestamp_to_minutes_with_tz timestamp.(string) int
getMinutes duration_to_minutes duration.() int
getMonth timestamp_to_month timestamp.() int
getMonth timestamp_to_month_with_tz timestamp.(string) int
getPort url_get_port URL.() string
getQuery url_get_query URL.() map(string,list(string))
getScheme url_get_scheme URL.() string
getSeconds timestamp_to_seconds timestamp.() int
getSeconds timestamp_to_seconds_tz timestamp.(string) int
getSeconds duration_to_seconds duration.() int
indexOf list_a_index_of_int list(A).(A) int 0-36
indexOf string_index_of_string string.(string) int
indexOf string_index_of_string_int string.(string,int) int
indexOf list_a_index_of_int list(A).(A) int 37
int int64_to_int64 (int) int
int double_to_int64 (double) int
int duration_to_int64 (duration) int
int string_to_int64 (string) int
int timestamp_to_int64 (timestamp) int
int uint64_to_int64 (uint) int
isSorted list_int_is_sorted_bool list(int).() bool
isSorted list_uint_is_sorted_bool list(uint).() bool
isSorted list_double_is_sorted_bool list(double).() bool
isSorted list_bool_is_sorted_bool list(bool).() bool
isSorted list_duration_is_sorted_bool list(duration).() bool
isSorted list_timestamp_is_sorted_bool list(timestamp).() bool
isSorted list_string_is_sorted_bool list(string).() bool
isSorted list_bytes_is_sorted_bool list(bytes).() bool
isURL is_url_string (string) bool
join list_join list(string).() string
join list_join_string list(string).(string) string
lastIndexOf list_a_last_index_of_int list(A).(A) int 0-36
lastIndexOf string_last_index_of_string string.(string) int
lastIndexOf string_last_index_of_string_int string.(string,int) int
lastIndexOf list_a_last_index_of_int list(A).(A) int 37
lowerAscii string_lower_ascii string.() string
matches matches (string,string) bool
matches matches_string string.(string) bool
max list_int_max_int list(int).() int
max list_uint_max_uint list(uint).() uint
max list_double_max_double list(double).() double
max list_bool_max_bool list(bool).() bool
max list_duration_max_duration list(duration).() duration
max list_timestamp_max_timestamp list(timestamp).() timestamp
max list_string_max_string list(string).() string
max list_bytes_max_bytes list(bytes).() bytes
min list_int_min_int list(int).() int
min list_uint_min_uint list(uint).() uint
min list_double_min_double list(double).() double
min list_bool_min_bool list(bool).() bool
min list_duration_min_duration list(duration).() duration
min list_timestamp_min_timestamp list(timestamp).() timestamp
min list_string_min_string list(string).() string
min list_bytes_min_bytes list(bytes).() bytes
replace string_replace_string_string string.(string,string) string
replace string_replace_string_string_int string.(string,string,int) string
size size_bytes (bytes) int
size bytes_size bytes.() int
size size_list (list(A)) int
size list_size list(A).() int
size size_map (map(A,B)) int
size map_size map(A,B).() int
size size_string (string) int
size string_size string.() int
split string_split_string string.(string) list(string)
split string_split_string_int string.(string,int) list(string)
startsWith starts_with_string string.(string) bool
string string_to_string (string) string
string bool_to_string (bool) string
string bytes_to_string (bytes) string
string double_to_string (double) string
string duration_to_string (duration) string
string int64_to_string (int) string
string timestamp_to_string (timestamp) string
string uint64_to_string (uint) string
string ip_to_string (IP) string 30
string cidr_to_string (CIDR) string 30
substring string_substring_int string.(int) string
substring string_substring_int_int string.(int,int) string
sum list_int_sum_int list(int).() int
sum list_uint_sum_uint list(uint).() uint
sum list_double_sum_double list(double).() double
sum list_duration_sum_duration list(duration).() duration
timestamp timestamp_to_timestamp (timestamp) timestamp
timestamp int64_to_timestamp (int) timestamp
timestamp string_to_timestamp (string) timestamp
trim string_trim string.() string
type type (A) type(A)
uint uint64_to_uint64 (uint) uint
uint double_to_uint64 (double) uint
uint int64_to_uint64 (int) uint
uint string_to_uint64 (string) uint
upperAscii string_upper_ascii string.() string
url string_to_url (string) URL
allowed decision_allowed Decision.() bool 27
check pathcheck_check PathCheck.(string) Decision 27
check resourcecheck_check ResourceCheck.(string) Decision 27
error decision_error Decision.() string 27
errored decision_errored Decision.() bool 27
group authorizer_group Authorizer.(string) GroupCheck 27
name resourcecheck_name ResourceCheck.(string) ResourceCheck 27
namespace resourcecheck_namespace ResourceCheck.(string) ResourceCheck 27
path authorizer_path Authorizer.(string) PathCheck 27
reason decision_reason Decision.() string 27
resource groupcheck_resource GroupCheck.(string) ResourceCheck 27
serviceAccount authorizer_serviceaccount Authorizer.(string,string) Authorizer 27
subresource resourcecheck_subresource ResourceCheck.(string) ResourceCheck 27
_[?_] list_optindex_optional_int (list(V),int) opt(V) 28
_[?_] optional_list_optindex_optional_int (opt(list(V)),int) opt(V) 28
_[?_] map_optindex_optional_value (map(K,V),K) opt(V) 28
_[?_] optional_map_optindex_optional_value (opt(map(K,V)),K) opt(V) 28
add quantity_add Quantity.(Quantity) Quantity 28
add quantity_add_int Quantity.(int) Quantity 28
asApproximateFloat quantity_get_float Quantity.() double 28
asInteger quantity_get_int Quantity.() int 28
compareTo quantity_compare_to Quantity.(Quantity) int 28
compareTo semver_compare_to Semver.(Semver) int 33
first list_first list(V).() opt(V) 28
hasValue optional_hasValue opt(V).() bool 28
isGreaterThan quantity_is_greater_than Quantity.(Quantity) bool 28
isGreaterThan semver_is_greater_than Semver.(Semver) bool 33
isInteger quantity_is_integer Quantity.() bool 28
isLessThan quantity_is_less_than Quantity.(Quantity) bool 28
isLessThan semver_is_less_than Semver.(Semver) bool 33
isQuantity is_quantity_string (string) bool 28
last list_last list(V).() opt(V) 28
optional.none optional_none () opt(V) 28
optional.of optional_of (V) opt(V) 28
optional.ofNonZeroValue optional_ofNonZeroValue (V) opt(V) 28
optional.unwrap optional_unwrap (list(opt(V))) list(V) 28
or optional_or_optional opt(V).(opt(V)) opt(V) 28
orValue optional_orValue_value opt(V).(V) V 28
quantity string_to_quantity (string) Quantity 28
sign quantity_sign (Quantity) int 28
sub quantity_sub Quantity.(Quantity) Quantity 28
sub quantity_sub_int Quantity.(int) Quantity 28
unwrapOpt optional_unwrapOpt list(opt(V)).() list(V) 28
value optional_value opt(V).() V 28
format string_format string.(list(dyn)) string 29
sets.contains list_sets_contains_list (list(T),list(T)) bool 29
sets.equivalent list_sets_equivalent_list (list(T),list(T)) bool 29
sets.intersects list_sets_intersects_list (list(T),list(T)) bool 29
strings.quote strings_quote (string) string 29
cidr string_to_cidr (string) CIDR 30
containsCIDR cidr_contains_cidr_string CIDR.(string) bool 30
containsCIDR cidr_contains_cidr CIDR.(CIDR) bool 30
containsIP cidr_contains_ip_string CIDR.(string) bool 30
containsIP cidr_contains_ip_ip CIDR.(IP) bool 30
family ip_family IP.() int 30
ip string_to_ip (string) IP 30
ip cidr_ip CIDR.() IP 30
ip.isCanonical ip_is_canonical (string) bool 30
isCIDR is_cidr (string) bool 30
isGlobalUnicast ip_is_global_unicast IP.() bool 30
isIP is_ip (string) bool 30
isLinkLocalMulticast ip_is_link_local_multicast IP.() bool 30
isLinkLocalUnicast ip_is_link_local_unicast IP.() bool 30
isLoopback ip_is_loopback IP.() bool 30
isUnspecified ip_is_unspecified IP.() bool 30
masked cidr_masked CIDR.() CIDR 30
prefixLength cidr_prefix_length CIDR.() int 30
fieldSelector authorizer_fieldselector ResourceCheck.(string) ResourceCheck 31
format.byte format.byte () Format 31
format.date format.date () Format 31
format.datetime format.datetime () Format 31
format.dns1035Label format.dns1035Label () Format 31
format.dns1035LabelPrefix format.dns1035LabelPrefix () Format 31
format.dns1123Label format.dns1123Label () Format 31
format.dns1123LabelPrefix format.dns1123LabelPrefix () Format 31
format.dns1123Subdomain format.dns1123Subdomain () Format 31
format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix () Format 31
format.labelValue format.labelValue () Format 31
format.named format-named (string) opt(Format) 31
format.qualifiedName format.qualifiedName () Format 31
format.uri format.uri () Format 31
format.uuid format.uuid () Format 31
labelSelector authorizer_labelselector ResourceCheck.(string) ResourceCheck 31
validate format-validate Format.(string) opt(list(string)) 31
cel.@mapInsert @mapInsert_map_key_value (map(K,V),K,V) map(K,V) 32
cel.@mapInsert @mapInsert_map_map (map(K,V),map(K,V)) map(K,V) 32
isSemver is_semver_string (string) bool 33
isSemver is_semver_string_bool (string,bool) bool 33
major semver_major Semver.() int 33
minor semver_minor Semver.() int 33
patch semver_patch Semver.() int 33
semver string_to_semver (string) Semver 33
semver string_bool_to_semver (string,bool) Semver 33
@sortByAssociatedKeys list_int_sortByAssociatedKeys list(T).(list(int)) list(T) 34
@sortByAssociatedKeys list_uint_sortByAssociatedKeys list(T).(list(uint)) list(T) 34
@sortByAssociatedKeys list_double_sortByAssociatedKeys list(T).(list(double)) list(T) 34
@sortByAssociatedKeys list_bool_sortByAssociatedKeys list(T).(list(bool)) list(T) 34
@sortByAssociatedKeys list_google.protobuf.Duration_sortByAssociatedKeys list(T).(list(duration)) list(T) 34
@sortByAssociatedKeys list_google.protobuf.Timestamp_sortByAssociatedKeys list(T).(list(timestamp)) list(T) 34
@sortByAssociatedKeys list_string_sortByAssociatedKeys list(T).(list(string)) list(T) 34
@sortByAssociatedKeys list_bytes_sortByAssociatedKeys list(T).(list(bytes)) list(T) 34
distinct list_distinct list(T).() list(T) 34
flatten list_flatten list(list(T)).() list(T) 34
flatten list_flatten_int list(dyn).(int) list(dyn) 34
lists.range lists_range (int) list(int) 34
reverse list_reverse list(T).() list(T) 34
slice list_slice list(T).(int,int) list(T) 34
sort list_int_sort list(int).() list(int) 34
sort list_uint_sort list(uint).() list(uint) 34
sort list_double_sort list(double).() list(double) 34
sort list_bool_sort list(bool).() list(bool) 34
sort list_google.protobuf.Duration_sort list(duration).() list(duration) 34
sort list_google.protobuf.Timestamp_sort list(timestamp).() list(timestamp) 34
sort list_string_sort list(string).() list(string) 34
sort list_bytes_sort list(bytes).() list(bytes) 34
includes list_includes_dyn_dyn dyn.(dyn) bool 37
"""
