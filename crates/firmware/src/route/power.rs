//! Power routes: what a power cut leaves of each machine, and how each machine continues. `ftl/recovery.rs`
//! explains how the map is rebuilt, and `format/` how a dump is written.

use firstread_core::{Arena, Buf, Lpn, Ns, Ports, Spare, SuperblockId};

use crate::Firmware;
use crate::flash_store::FlashStore;
use crate::format::{
    Cursor, Damage, Header, MountError, Record as _, SectionId, Sections, Shutdown, dump_bytes,
    write_sections,
};
use crate::ftl::{OnFlash, Recovering, Recovery};
use crate::log::Record;
use crate::lower_layers::LowerLayers;
use crate::observe::Counters;
use crate::shared::Shared;

impl<M: Arena> Firmware<M> {
    /// Power is cut: what is in flight is lost, and what a dump keeps is left. Of a volatile write cache, what was not
    /// programmed is lost, and [`firstread_core::Accounting::lost`] tells of which pages. The next mount needs room for two
    /// map changes: if [`Firmware::overlay_is_short`], hand over more memory before. From now on the firmware can only be
    /// saved ([`Firmware::save`]) and ended ([`Firmware::into_flash`]). Returns what the cut has met.
    pub fn cut<P: Ports<Record = Record>>(&mut self, ports: &mut P) -> Recovery {
        if !self.is_at_rest() && self.header.shutdown == Shutdown::Normal {
            // Power did not wait until operations had ended.
            self.header.shutdown = Shutdown::PowerLoss;
        }
        let is_asked = self.header.shutdown == Shutdown::Normal;
        let mut recovery = Recovery {
            erasing: self.lower.store.place.space.erases.blocks().count() as u32,
            converting: self.lower.store.is_converting(),
            probing: self.lower.store.read.is_probing(),
            ..Recovery::default()
        };
        let (map_cache, store) = (&mut self.lower.map_cache, &mut self.lower.store);
        let (table, place, shared) = (&mut store.table, &mut store.place, &mut store.shared);
        let codewords = shared.config.geometry.codewords_per_slot();
        shared.counters.front.ahead_wasted += self.host.cut(&shared.jobs, codewords);
        if is_asked {
            place.space.write_image();
        } else {
            let changed = |lpn, of: &_| map_cache.change(lpn, of);
            recovery.lost_slots = place.lose_unsafe(table, &mut shared.blocks, ports, changed);
        }
        recovery.torn_programs = place.cut(shared, ports);
        recovery.count_reads(&shared.jobs);
        recovery.waiting_programs = place.waiting_programs();
        if map_cache.is_on() {
            recovery.dumped_map_pages = map_cache.cut();
        }
        if !is_asked {
            debug_assert!(
                map_cache.is_on() || table.map.has_room(2),
                "the overlay is short"
            );
            table.forget_places();
        }
        recovery
    }

    /// The host shuts the drive down: no command is in flight, and none will come. From now on no operation begins, but on
    /// a die that has suspended one. Once [`Firmware::is_at_rest`], [`Firmware::cut`] and [`Firmware::save`] end the
    /// firmware. They lose nothing, and where the whole map is in memory, the controller writes an image of it, so that the
    /// next mount is short.
    pub fn shut_down(&mut self) {
        self.header.shutdown = Shutdown::Normal;
        self.lower.store.shared.schedule.pause();
    }

    /// The host resets the drive, and power stays on: what a power cut loses is lost, but this counts as no unsafe shutdown.
    pub fn reset(&mut self) {
        self.header.shutdown = Shutdown::Reset;
    }

    /// Whether no die has an operation, suspended ones included.
    pub fn is_at_rest(&self) -> bool {
        self.lower.store.shared.schedule.is_at_rest()
    }

    /// What the header of the next dump says: among it, how many shutdowns no host had asked for.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Bytes of the dump that [`Firmware::save`] writes now.
    pub fn dump_bytes(&mut self, cut: &Recovery, ports: &impl Ports) -> usize {
        self.count(cut, ports, false)
    }

    /// Maximum number of bytes of a dump without its journal ([`Config::most_journal_pages`](crate::Config::most_journal_pages)). To be
    /// asked of a firmware that was newly made, and has no journal.
    pub fn dump_bytes_at_most(&mut self, ports: &impl Ports) -> usize {
        self.count(&Recovery::default(), ports, true)
    }

    fn count(&mut self, cut: &Recovery, ports: &impl Ports, most: bool) -> usize {
        let mut sections = 0;
        for id in SectionId::ALL {
            let mut cursor = Cursor::counting(most);
            self.transfer(id, &mut cut.clone(), &mut cursor);
            if id == SectionId::Buffers {
                self.lower.store.place.save_buffers(&mut cursor, ports);
            }
            sections += cursor.end().unwrap_or(0);
        }
        dump_bytes(sections)
    }

    /// Writes the dump after [`Firmware::cut`] into `bytes`. Returns its length; none if `bytes` is too short.
    pub fn save(
        &mut self,
        now: Ns,
        cut: &Recovery,
        bytes: &mut [u8],
        ports: &impl Ports,
    ) -> Option<usize> {
        let header = Header {
            clock: now,
            sequence: ports.sequence(),
            ..self.header
        };
        write_sections(bytes, &header, |id, cursor| {
            self.transfer(id, &mut cut.clone(), cursor);
            if id == SectionId::Buffers {
                self.lower.store.place.save_buffers(cursor, ports);
            }
        })
    }

    /// The firmware ends. Returns what a simulated drive does not keep as bytes.
    pub fn into_flash(self) -> OnFlash<M> {
        self.lower.store.table.into_flash()
    }

    /// Power is back. This firmware, newly made with the same configuration, mounts the drive: it loads the dump in
    /// `bytes`, and goes on with what lies on `flash`. Its schemes may be others than those that wrote the dump.
    /// A scheme of axis `read_levels` or `retry` that is another one, or has other parameters, begins anew. No other call
    /// is allowed before the recovery is complete and [`Firmware::restart`] was called.
    ///
    /// # Errors
    /// [`MountError`], if the dump is of another drive or version, or a section without which data would be lost is
    /// damaged. Then this firmware is of no use.
    pub fn mount<P: Ports<Record = Record>>(
        &mut self,
        flash: OnFlash<M>,
        bytes: &[u8],
        ports: &mut P,
    ) -> Result<Recovering, MountError> {
        let (header, sections) = Sections::open(bytes)?;
        let own = self.lower.store.shared.config.identity;
        if header.identity != own {
            let found = header.identity;
            return Err(MountError::Identity { found, own });
        }
        // The journal is read as it was written.
        self.header = header;
        let has_image = header.shutdown == Shutdown::Normal;
        self.lower.store.table.put_on(flash, has_image);
        let mut cut = Recovery::default();
        let mut lost = 0;
        for id in SectionId::ALL {
            let loaded = sections.load(id, |cursor| {
                self.transfer(id, &mut cut, cursor);
                if id == SectionId::Buffers {
                    self.load_buffers(cursor, ports);
                }
            });
            match loaded {
                Ok(()) => {}
                Err(damage) if id.is_essential() => return Err(MountError::Section(id, damage)),
                // Contents that do not fit have been loaded in part.
                Err(Damage::Contents) => match id {
                    SectionId::Counters => {
                        self.lower.store.shared.counters = Counters::default();
                        lost += 1;
                    }
                    SectionId::Cut => {
                        cut = Recovery::default();
                        lost += 1;
                    }
                    SectionId::Relocation => {
                        self.relocate.forget_plans();
                        lost += 1;
                    }
                    _ => return Err(MountError::Section(id, Damage::Contents)),
                },
                Err(_) => lost += 1,
            }
        }
        lost += self.is_loaded()?;
        self.header = Header {
            saves: header.saves.saturating_add(1),
            ..header.mounted()
        };
        let wrote_image = has_image && !self.lower.map_cache.is_on();
        let next = match wrote_image {
            true => self.lower.store.shared.blocks.len(),
            false => 0,
        };
        (cut.dump_bytes, cut.wrote_image, cut.lost_sections) =
            (bytes.len() as u64, wrote_image, lost);
        self.lower.store.count_dump_and_image(&mut cut);
        Ok(Recovering::new(cut, SuperblockId(next)))
    }

    /// Everything was loaded: looks whether it fits together, and counts what follows from it. Returns the number of
    /// sections that are lost.
    pub(super) fn is_loaded(&mut self) -> Result<u32, MountError> {
        let buffers = self.buffer_slots();
        let counters = &self.lower.store.shared.counters;
        let written = (counters.host_slots_written, counters.front.map_writes);
        self.lower.store.place.relocation.written_so_far(written);
        let store = &mut self.lower.store;
        if !store.place.is_sound(buffers, &store.shared) {
            return Err(MountError::Section(SectionId::Placement, Damage::Contents));
        }
        let mut lost = 0;
        if !self.relocate.is_sound(&store.shared.blocks) {
            self.relocate.forget_plans();
            lost += 1;
        }
        store.shared.blocks.mark_all();
        store.place.recount(&mut store.shared);
        store.read.loaded();
        Ok(lost)
    }

    /// Saves or loads section `id`. The slots of the buffers are apart, because they are the platform's.
    pub(crate) fn transfer(&mut self, id: SectionId, cut: &mut Recovery, cursor: &mut Cursor<'_>) {
        let Firmware {
            // Commands in flight, the read cache, read-ahead: the host asks again.
            host: _,
            relocate,
            lower: LowerLayers { map_cache, store },
            header,
        } = self;
        let FlashStore {
            table,
            place,
            read,
            shared,
        } = store;
        let Shared {
            config: _,
            layout: _,
            blocks,
            // Operations in flight.
            jobs: _,
            schedule: _,
            counters,
            // Which pages are hot is counted anew: that costs promotions of one epoch, and no data.
            heat: _,
            // What the host will do is no memory of a drive.
            future: _,
        } = shared;
        match id {
            SectionId::Superblocks => blocks.transfer(cursor),
            SectionId::Placement => place.transfer(cursor),
            SectionId::Buffers => {}
            SectionId::Journal => table.transfer(header.shutdown == Shutdown::Normal, cursor),
            SectionId::MapCache => map_cache.transfer(table.directory.len(), cursor),
            SectionId::Relocation => relocate.transfer(cursor),
            SectionId::ReadLevels => read.transfer_levels(cursor),
            SectionId::Retry => read.transfer_retry(cursor),
            SectionId::Counters => counters.transfer(cursor),
            SectionId::Cut => cut.transfer(cursor),
        }
    }

    /// Loads which slots the write buffers hold, for the platform, which has their data.
    fn load_buffers<P: Ports>(&mut self, cursor: &mut Cursor<'_>, ports: &mut P) {
        let slots = self.buffer_slots();
        let mut len = 0u32;
        len.transfer(cursor);
        for _ in 0..len {
            let (mut buf, mut spare) = (Buf(0), None);
            buf.transfer(cursor);
            spare.transfer(cursor);
            if cursor.has_fault() || buf.0 >= slots {
                return cursor.fault();
            }
            ports.restore(buf, spare);
        }
    }

    /// Reads the table of contents of the next superblock. After the last superblock, takes over what was
    /// dumped. Returns true while there is more to do; afterwards [`Recovering::done`] says what the recovery
    /// took.
    pub fn recover_superblock<P: Ports<Record = Record>>(
        &mut self,
        recovering: &mut Recovering,
        ports: &P,
    ) -> bool {
        self.lower.store.recover_superblock(recovering, ports)
    }

    /// Runs the rest of a recovery.
    pub fn go_through<P: Ports<Record = Record>>(
        &mut self,
        mut recovering: Recovering,
        ports: &P,
    ) -> Recovery {
        while self.recover_superblock(&mut recovering, ports) {}
        recovering.done()
    }

    /// The version of page `lpn` that the recovery has found, if it holds data.
    pub fn recovered<P: Ports<Record = Record>>(&self, lpn: Lpn, ports: &P) -> Option<Spare> {
        self.lower.store.recovered(lpn, ports)
    }

    /// Continues after a recovery. Events of operations issued before the cut are void.
    pub fn restart<P: Ports<Record = Record>>(&mut self, now: Ns, ports: &mut P) {
        self.lower.store.place.pool.host_asks(now);
        self.lower.store.restart(now, ports);
        self.relocate.wake();
    }
}
