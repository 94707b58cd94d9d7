package scenarios

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-dev/rollcall/api/v1alpha1"
)

func isDuration(value string) error {
	_, err := time.ParseDuration(value)
	return err
}

// duration of a key; the value was checked when the file was parsed.
func (c *Command) duration(key string) (time.Duration, bool) {
	value, given := c.Get(key)
	d, _ := time.ParseDuration(value)
	return d, given
}

func (c *Command) integer(key string) (int64, bool) {
	value, given := c.Get(key)
	n, _ := strconv.ParseInt(value, 10, 64)
	return n, given
}

func (c *Command) boolean(key string) (value, given bool) {
	text, given := c.Get(key)
	value, _ = strconv.ParseBool(text)
	return value, given
}

func isTopics(value string) error {
	_, err := parseTopics(value)
	return err
}

// parseTopics reads "t1:6,t2:6x2": names, partitions and, after x, replicas.
func parseTopics(value string) ([]v1alpha1.TopicSpec, error) {
	var topics []v1alpha1.TopicSpec
	for _, part := range splitList(value) {
		name, numbers, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("topic %q: want NAME:PARTITIONS or NAME:PARTITIONSxREPLICAS", part)
		}
		partitions, replicas, _ := strings.Cut(numbers, "x")
		topic := v1alpha1.TopicSpec{Name: name, Replicas: 1}
		if err := parseInt32(partitions, &topic.Partitions); err != nil {
			return nil, fmt.Errorf("topic %q: %w", part, err)
		}
		if replicas != "" {
			if err := parseInt32(replicas, &topic.Replicas); err != nil {
				return nil, fmt.Errorf("topic %q: %w", part, err)
			}
		}
		topics = append(topics, topic)
	}
	return topics, nil
}

func parseInt32(text string, into *int32) error {
	n, err := strconv.ParseInt(text, 10, 32)
	*into = int32(n)
	return err
}

func isWeights(value string) error {
	_, err := parseWeights(value)
	return err
}

// parseWeights reads "t1:3,t2:1".
func parseWeights(value string) (map[string]int64, error) {
	weights := map[string]int64{}
	for _, part := range splitList(value) {
		topic, number, _ := strings.Cut(part, ":")
		weight, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("weight %q: want TOPIC:WEIGHT", part)
		}
		weights[topic] = weight
	}
	return weights, nil
}

func isHomes(value string) error {
	_, err := parseHomes(value)
	return err
}

// parseHomes reads "t1:a+b,t2:c".
func parseHomes(value string) (map[string][]string, error) {
	homes := map[string][]string{}
	for _, part := range splitList(value) {
		topic, zones, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("homes %q: want TOPIC:ZONE+ZONE", part)
		}
		homes[topic] = strings.FieldsFunc(zones, func(r rune) bool { return r == '+' })
	}
	return homes, nil
}

// partition is one partition of one topic.
type partition struct {
	topic  string
	number int32
}

// parsePartitions reads "t1:0-2,t2:5"; after a topic more numbers may follow ("t1:0,2"). Empty and "none" are no partitions.
func parsePartitions(value string) (map[partition]bool, error) {
	found := map[partition]bool{}
	if value == "none" {
		return found, nil
	}
	topic := ""
	for _, part := range splitList(value) {
		numbers := part
		if at := strings.LastIndex(part, ":"); at >= 0 {
			topic, numbers = part[:at], part[at+1:]
		}
		if topic == "" {
			return nil, fmt.Errorf("%q: want TOPIC:NUMBERS", part)
		}
		first, last, isRange := strings.Cut(numbers, "-")
		var low, high int32
		if err := parseInt32(first, &low); err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		high = low
		if isRange {
			if err := parseInt32(last, &high); err != nil {
				return nil, fmt.Errorf("%q: %w", part, err)
			}
		}
		for number := low; number <= high; number++ {
			found[partition{topic, number}] = true
		}
	}
	return found, nil
}

// onePartition reads "t1:3".
func onePartition(value string) (partition, error) {
	all, err := parsePartitions(value)
	if err != nil || len(all) != 1 {
		return partition{}, fmt.Errorf("%q: want TOPIC:PARTITION", value)
	}
	for one := range all {
		return one, nil
	}
	return partition{}, nil
}

// showPartitions writes what parsePartitions reads.
func showPartitions(all map[partition]bool) string {
	byTopic := map[string][]int32{}
	var topics []string
	for one := range all {
		if byTopic[one.topic] == nil {
			topics = append(topics, one.topic)
		}
		byTopic[one.topic] = append(byTopic[one.topic], one.number)
	}
	slices.Sort(topics)
	var parts []string
	for _, topic := range topics {
		parts = append(parts, ranges(topic, byTopic[topic])...)
	}
	return strings.Join(parts, ",")
}

func ranges(topic string, numbers []int32) []string {
	slices.Sort(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		last := i
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		text := fmt.Sprintf("%s:%d", topic, numbers[i])
		if last > i {
			text += fmt.Sprintf("-%d", numbers[last])
		}
		parts = append(parts, text)
		i = last + 1
	}
	return parts
}

// matches compares a value with a pattern: `*` is anything, `!x` anything but x, and numbers may be `<=N` or `>=N`.
func matches(pattern, actual string) bool {
	return matchesBy(pattern, func(wanted string) bool {
		if is, comparison := compares(wanted, actual); comparison {
			return is
		}
		return wanted == actual
	})
}

// matchesBy leaves it to equal whether the value is the one that is wanted.
func matchesBy(pattern string, equal func(wanted string) bool) bool {
	if pattern == "*" {
		return true
	}
	if not, found := strings.CutPrefix(pattern, "!"); found {
		return !equal(not)
	}
	return equal(pattern)
}

// compares understands "<=N", ">=N" and "=N".
func compares(wanted, actual string) (is, comparison bool) {
	sign := strings.TrimRight(wanted, "-0123456789")
	limit, err := strconv.ParseInt(strings.TrimPrefix(wanted, sign), 10, 64)
	if err != nil || sign == "" {
		return false, false
	}
	value, err := strconv.ParseInt(actual, 10, 64)
	if err != nil {
		return false, false
	}
	switch sign {
	case "<=":
		return value <= limit, true
	case ">=":
		return value >= limit, true
	case "=", "==":
		return value == limit, true
	}
	return false, false
}
