// Copyright The Lockstep Authors.
// SPDX-License-Identifier: Apache-2.0

package resize

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// String is the long form.
func (h Hold) String() string { return h.Long() }

// Short is the phrase for a column: what is waited for, with one number.
func (h Hold) Short() string {
	who := h.Group
	if who == "" {
		who = h.place()
	}
	switch h.Reason {
	case ReasonUnread, ReasonGroupOffline, ReasonGroupReadsNoMore:
		s := fmt.Sprintf("%s: %s left in %s", who, about(h.Count), queues(len(h.Where)+h.More))
		if h.Reason == ReasonGroupOffline {
			s += " (offline)"
		}
		return s
	case ReasonStillGrowing:
		return fmt.Sprintf("%s still growing", who)
	case ReasonRouteAge, ReasonReaders, ReasonSettling, ReasonInvisible, ReasonLatePending:
		if h.Wait > 0 {
			return fmt.Sprintf("%s, about %s", h.short(), roughly(h.Wait))
		}
		return h.short()
	default:
		return h.short()
	}
}

func (h Hold) short() string {
	names := map[Reason]string{
		ReasonRouteAge: "old routes to age", ReasonSettling: queues(h.Of) + " to stand still",
		ReasonLateWindow: "late messages until " + clock(h.Until),
		ReasonReaders:    "readers to take the new queues",
		ReasonInvisible:  "handed-out messages of " + h.Group, ReasonLatePending: h.at("late messages on ", "a second look for late messages"),
		ReasonAwaitingApproval: "approval of " + h.Why, ReasonAdoptedLarger: "an edit or approval: adopted larger",
		ReasonForeignChange: "a foreign change on " + h.place(), ReasonMasterMissing: "a master of " + h.place(),
		ReasonNameServersDiffer: "name servers to agree", ReasonNameServerWarmUp: "name server " + h.place() + " to warm up",
		ReasonRouteBehind: "the route of " + h.place(), ReasonUnknown: h.at("an answer of ", "a fresh look"),
		ReasonGroupBusy: h.Group + " is changing", ReasonDispatchBehind: "dispatch on " + h.place(),
		ReasonRetiredWatched: "late messages until " + clock(h.Until), ReasonNoEntry: h.Group + " to commit on " + h.place(),
		ReasonReadBack: "read-back of " + h.place(), ReasonHistory: about(h.Count) + " to expire",
	}
	if s, ok := names[h.Reason]; ok {
		return strings.TrimSpace(s)
	}
	return string(h.Reason)
}

// Long is the sentence for a condition, an event or the CLI.
func (h Hold) Long() string {
	switch h.Reason {
	case ReasonUnread:
		return fmt.Sprintf("%s retiring queues hold %s for %s (%s)%s", h.share(), about(h.Count), h.Group, h.list(), h.expired())
	case ReasonGroupOffline:
		return fmt.Sprintf("group %s has no members%s and %s unread in retiring queues (%s)%s; start it, or add it to spec.resize.waivers to give them up",
			h.Group, h.since(), exactly(h.Count), h.list(), h.expired())
	case ReasonGroupReadsNoMore:
		return fmt.Sprintf("group %s is online but no longer reads the topic, and has %s unread in retiring queues (%s)%s; let it subscribe again, or stop it and add it to spec.resize.waivers",
			h.Group, exactly(h.Count), h.list(), h.expired())
	case ReasonOffsetBeyondEnd:
		return fmt.Sprintf("group %s has committed %s beyond the end of %s (%s), so what arrives there would be skipped; acknowledge a new offset in the spec while it has no member",
			h.Group, exactly(h.Count), queues(len(h.Where)+h.More), h.list())
	case ReasonLogLostTail:
		return fmt.Sprintf("%s ends %s before the end that was noted at the cut: its log lost its tail, so nothing can be proven of it", h.place(), exactly(h.Count))
	case ReasonPullOnlyReader:
		return fmt.Sprintf("group %s pulls from %s without committing (pull offsets or a light queue), so its position cannot be followed; declare it or add it to spec.resize.waivers", h.Group, h.place())
	case ReasonBroadcastUnknown:
		return fmt.Sprintf("broadcast group %s keeps its offsets on its members and not all of them answered: %s", h.Group, h.Why)
	case FindingBroadcastUnproven:
		return fmt.Sprintf("broadcast group %s: members that are absent now keep their own offsets; what they have not read cannot be proven", h.Group)
	case ReasonStillGrowing:
		return fmt.Sprintf("%s retiring queues have not stood still for %s (%s): some producer still sends there", h.share(), roughly(h.Wait), h.list())
	case ReasonSettling:
		return fmt.Sprintf("%s of %d retiring queues must stand still for %s; %s to go", number(h.Count), h.Of, h.Why, roughly(h.Wait))
	case ReasonLateWindow:
		return fmt.Sprintf("%s is closed to producers and drained; it keeps the topic for late messages until %s", h.place(), clock(h.Until))
	case ReasonRouteAge:
		return fmt.Sprintf("producers may use a route of up to %s ago; %s to go", roughly(time.Duration(h.Count)*time.Second), roughly(h.Wait))
	case ReasonLatePending:
		return h.sentence() + h.forAbout()
	case ReasonInvisible:
		return fmt.Sprintf("messages handed out to members of %s may come back for %s after the last was taken; %s to go", h.Group, roughly(time.Duration(h.Count)*time.Second), roughly(h.Wait))
	case ReasonNoEntry:
		return fmt.Sprintf("group %s has no offset yet on %s (%s); its members own them and commit within a minute", h.Group, queues(len(h.Where)+h.More), h.list())
	case FindingStranded:
		return fmt.Sprintf("%s for %s lie in %s that nobody can read any more (%s)%s; set the rescue in spec.resize to make them readable again",
			exactly(h.Count), h.orEverybody(), queues(len(h.Where)+h.More), h.list(), h.expired())
	case FindingLateMessage:
		return fmt.Sprintf("%s unread on retired %s (%s) for %s: reads are opened again until consumed; no message is lost",
			exactly(h.Count), queues(len(h.Where)+h.More), h.list(), h.orEverybody())
	case ReasonHistory:
		return fmt.Sprintf("the cut would take away %s that can still be read again (%s); kept until expired, as the spec asks", exactly(h.Count), h.list())
	case ReasonRetiredWatched:
		return fmt.Sprintf("%s retired, watched for late messages until %s", queues(h.Of), clock(h.Until))
	default:
		return h.sentence()
	}
}

// sentence is the form of reasons whose phrase is in Why.
func (h Hold) sentence() string {
	parts := make([]string, 0, 3)
	if p := h.place(); p != "" {
		parts = append(parts, p)
	}
	if h.Group != "" {
		parts = append(parts, "group "+h.Group)
	}
	if h.Why != "" {
		parts = append(parts, h.Why)
	}
	if len(parts) == 0 {
		return string(h.Reason)
	}
	return strings.Join(parts, ": ")
}

// at is a phrase about the place, or else the group, of the hold; where it has
// neither, the other phrase.
func (h Hold) at(phrase, nowhere string) string {
	switch {
	case h.place() != "":
		return phrase + h.place()
	case h.Group != "":
		return phrase + h.Group
	}
	return nowhere
}

func (h Hold) place() string {
	if h.Broker != "" && h.Queue > NoQueue {
		return h.Broker + "/" + strconv.Itoa(h.Queue)
	}
	return h.Broker
}

func (h Hold) list() string {
	if len(h.Where) == 0 {
		return h.place()
	}
	names := make([]string, 0, len(h.Where)+1)
	for _, w := range h.Where {
		names = append(names, w.Broker+"/"+strconv.Itoa(w.Queue))
	}
	if h.More > 0 {
		names = append(names, fmt.Sprintf("%d more", h.More))
	}
	return strings.Join(names, ", ")
}

func (h Hold) share() string {
	return fmt.Sprintf("%d of %d", len(h.Where)+h.More, h.Of)
}

func (h Hold) expired() string {
	if h.Expired <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s more have expired)", number(h.Expired))
}

func (h Hold) since() string {
	if h.Since.IsZero() {
		return ""
	}
	return ", last moved " + h.Since.UTC().Format("2006-01-02 15:04")
}

func (h Hold) forAbout() string {
	if h.Wait <= 0 {
		return ""
	}
	return fmt.Sprintf("; about %s", roughly(h.Wait))
}

func (h Hold) orEverybody() string {
	if h.Group == "" {
		return "every group"
	}
	return h.Group
}

// about prints a number of messages in coarse buckets, so that text built from
// it does not change at every look (K05): two leading digits above 100.
func about(n int64) string {
	if n < 100 {
		return exactly(n)
	}
	unit := int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return "about " + number(n/unit*unit) + " messages"
}

func exactly(n int64) string {
	if n == 1 {
		return "1 message"
	}
	return number(n) + " messages"
}

func queues(n int) string {
	if n == 1 {
		return "1 queue"
	}
	return strconv.Itoa(n) + " queues"
}

// number groups digits by thousands.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// roughly prints a duration in the unit a person would use, without seconds
// from two minutes on.
func roughly(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour).Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	default:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	}
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "the end of the late window"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
